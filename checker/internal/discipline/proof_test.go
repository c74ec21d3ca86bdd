package discipline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/discipline"
	"lockpick/internal/testmain"
	"lockpick/scenarios/command"
)

const counter = "read x < n; echo $((x+1)) > n"

// Which commands keep to a lock, and why others do not. What is broken with some number of copies is never proved.
func TestWhatIsProved(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/internal/discipline")
	testmain.Needs(t, "flock", "./checker/internal/discipline")
	for _, c := range []struct{ name, script, why string }{
		{"flock", "exec 9>lk; flock 9; " + counter, ""},
		{"flock of what is changed in place", "exec 9<n; flock 9; " + counter, ""},
		{"what is open before is read inside", "exec 8<n 9>lk; flock 9; read x <&8; echo $((x+1)) > n", ""},
		{"released before the end", "exec 9>lk; flock 9; " + counter + "; flock -u 9; read y < s", ""},
		{"mkdir", "until mkdir l 2>/dev/null; do sleep 1; done; " + counter + "; rmdir l", ""},
		{"link", "echo $$ > t.$$; until ln t.$$ l 2>/dev/null; do sleep 1; done; " + counter + "; rm l t.$$",
			"takes no exclusive lock"},
		{"looks whether the lock is there", "[ -e lk ]; exec 9>lk; flock 9; " + counter, ""},
		{"depends on whether the lock is there", "[ -e lk ] || read y < s; exec 9>lk; flock 9; " + counter,
			"does not always do the same"},
		{"sed -i", "flock lk sed -i s/a/b/ s", ""},
		{"no lock", counter, "takes no exclusive lock"},
		{"read before", "exec 9>lk; read x < n; flock 9; echo $((x+1)) > n", "reads a file that copies change"},
		{"written afterwards", "exec 9>lk; flock 9; read x < n; flock -u 9; echo $((x+1)) > n", "empties a file"},
		{"shared", "exec 9>lk; flock -s 9; " + counter, "takes no exclusive lock"},
		{"the lock is removed", "exec 9>lk; flock 9; " + counter + "; rm lk", "empties a file"},
		{"the lock is replaced", "exec 9<n; flock 9; read x < n; echo $((x+1)) > t; mv t n", "puts another file there"},
		{"a lock for each pid", "exec 9>lk.$$; flock 9; " + counter, "depends on its pid"},
		{"emptied by who waits", "exec 9>n; flock 9; echo 1 >> n", "empties a file"},
		{"gives up", "exec 9>lk; flock -n 9 || exit 1; " + counter, "gives up"},
		{"goes on without", "exec 9>lk; flock -n 9; " + counter, "reads a file that copies change"},
		{"waits for a time", "exec 9>lk; flock -w 5 9 || exit 1; " + counter, "with a timeout"},
		{"patience", "for i in 1 2 3; do mkdir l 2>/dev/null && break; sleep 1; done; " + counter + "; rmdir l",
			"reads a file"},
		{"removes others' lock", "until mkdir l 2>/dev/null; do rmdir l; done; " + counter + "; rmdir l", "changes"},
		{"looks first", "[ -e l ] && exit; : > l; " + counter + "; rm l", "takes no exclusive lock"},
		{"only the first", "if [ ! -e d ]; then exec 9>lk; flock 9; : > d; fi; " + counter, "looks at"},
		{"a listing decides", "exec 9<s; for f in *; do [ $f = t ] && read y < s; done; flock 9; : > t; rm t",
			"lists a directory"},
		{"a child goes on", "flock -o lk sh -c 'sh -c \"sleep 1; " + counter + "\" &'", "at the same time"},
		{"asks who lives", "exec 9>lk; read p < s; kill -0 101; flock 9; " + counter, "another process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := command.Spec{Files: []command.File{{Name: "n", Content: "0\n"}, {Name: "s", Content: "a\n"},
				{Name: "job.sh", Content: c.script + "\n"}}}
			spec.Commands = []command.Line{{Argv: []string{"sh", "job.sh"}}, {Argv: []string{"sh", "job.sh"}}}
			sc, err := spec.Scenario()
			testmain.Traced(t, err, "./checker/internal/discipline")
			require.NoError(t, err)
			proof, err := discipline.ProveFew(t.Context(), &sc, 4)
			if c.why == "" {
				require.NoError(t, err)
				require.Equal(t, c.name == "sed -i", proof.Closed)
				require.Equal(t, c.name == "mkdir", proof.Polls)
				return
			}
			require.ErrorAs(t, err, &discipline.NotProved{})
			require.ErrorContains(t, err, c.why)
		})
	}
}
