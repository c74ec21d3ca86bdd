package discipline_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/discipline"
	"lockpick/internal/testmain"
	"lockpick/scenarios/command"
)

const (
	counter   = "read x < n; echo $((x+1)) > n"
	added     = "read x < n; echo $((x+1+y)) > n"
	noclobber = "until (set -C; : > l) 2>/dev/null; do "
	polls     = "proved, of copies that poll"
)

// Which commands keep to a lock, and why others do not. What is broken with some number of copies is never proved.
func TestWhatIsProved(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/internal/discipline")
	testmain.Needs(t, "flock", "./checker/internal/discipline")
	for _, c := range []struct{ name, script, why string }{
		{"flock", "exec 9>lk; flock 9; " + counter, ""},
		{"flock of what is changed in place", "exec 9<n; flock 9; " + counter, ""},
		{"what is open before is read inside", "exec 8<n 9>lk; flock 9; read x <&8; echo $((x+1)) > n", ""},
		{"released before the end", "exec 9>lk; flock 9; " + counter + "; flock -u 9; read y < s", ""},
		{"mkdir", "until mkdir l 2>/dev/null; do sleep 1; done; " + counter + "; rmdir l", polls},
		{"link", "echo $$ > t.$$; until ln t.$$ l 2>/dev/null; do sleep 1; done; " + counter + "; rm l t.$$",
			"takes no exclusive lock"},
		{"looks whether the lock is there", "[ -e lk ]; exec 9>lk; flock 9; " + counter, ""},
		{"reads if the lock is not there", "[ -e lk ] || read y < s; exec 9>lk; flock 9; " + counter, ""},
		{"depends on whether the lock is there", "[ -e lk ] || y=1; exec 9>lk; flock 9; " + added, "something else"},
		{"depends on that later", "[ -e lk ] || y=1; exec 9>lk; flock 9; [ -e f ] || y=; : > f; " + added,
			"something else"},
		{"makes the file of the lock", "(set -C; : > lk) 2>/dev/null; exec 9<>lk; flock 9; " + counter, ""},
		{"polls for the lock", "(set -C; : > lk) 2>/dev/null; exec 9<>lk; until flock -n 9; do :; done; " + counter,
			polls},
		{"its maker does not lock", "(set -C; : > lk) 2>/dev/null || { exec 9<>lk; flock 9; }; " + counter,
			"takes no exclusive lock"},
		{"its maker removes it", "(set -C; : > lk) 2>/dev/null; exec 9<>lk; flock 9; " + counter + "; rm lk",
			"looks at"},
		{"O_EXCL", noclobber + "sleep 1; done; " + counter + "; rm l", polls},
		{"O_EXCL with a pid", "until (set -C; echo $$ > l) 2>/dev/null; do :; done; " + counter + "; rm l", polls},
		{"looks before O_EXCL", "[ -e l ]; " + noclobber + ":; done; " + counter + "; rm l",
			polls},
		{"O_EXCL, counts those who had it", "[ -e l ] && y=1; " + noclobber + ":; done; " + added + "; rm l",
			"something else"},
		{"O_EXCL, removed early", noclobber + ":; done; rm l; " + counter, "reads a file"},
		{"O_EXCL, gives up", noclobber + "[ -e l ] || exit; done; " + counter + "; rm l", "gives up"},
		{"O_EXCL, thinks it stale", noclobber + "rm -f l; done; " + counter + "; rm l", "looks at"},
		{"O_EXCL, goes on if it is gone", noclobber + "[ -e l ] || break; done; " + counter + "; rm -f l",
			"reads a file"},
		{"O_EXCL, decides by the pid", "until (set -C; echo $$ > l) 2>/dev/null; do [ -s l ] && exit; done; " + counter +
			"; rm l", "always do the same"},
		{"O_EXCL, decides by the listing", noclobber + "for f in *; do [ $f = t ] && exit; done; done; : > t; " + counter +
			"; rm t l", "lists a directory"},
		{"looks whether there is something", "[ -s n ]; exec 9<n; flock 9; " + counter, ""},
		{"depends on that", "[ -s n ] || y=1; exec 9<n; flock 9; " + added, "depends on that"},
		{"depends on that afterwards", "exec 9<n; flock 9; " + counter + "; exec 9<&-; [ -s n ] || : > t",
			"depends on that"},
		{"looks while it polls", "until [ -s n ] && mkdir l 2>/dev/null; do :; done; " + counter + "; rmdir l",
			"may find the lock taken"},
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
		{"a child goes on", "flock -o lk sh -c 'sh -c \"sleep 1; " + counter + "\" &'", "reads a file"},
		{"a pipeline", "exec 9>lk; flock 9; cat n | { read x; echo $((x+1)) > t; }; mv t n", ""},
		{"a pipeline into the file", "flock lk sh -c 'sed p n | { read x; echo $((x+1)) > n; }'", ""},
		{"the end of a child is not waited for", "exec 9>lk; flock 9; { " + counter + "; } 9>&- & exit",
			"outside of the lock"},
		{"the lock goes with the child", "exec 9>lk; flock 9; { " + counter + "; } & exit", ""},
		{"children that overtake each other", "exec 9>lk; flock 9; echo a >> n & echo b >> n; wait",
			"on the order of its own processes"},
		{"children that print in any order", "exec 9>lk; flock 9; " + counter +
			"; { read a < s; echo a; } & read b < s; echo b; wait", "on the order of its own processes"},
		{"children before the lock", "read a < s & read b < s; wait; exec 9>lk; flock 9; " + counter,
			"at the same time"},
		{"asks who lives", "exec 9>lk; read p < s; kill -0 101; flock 9; " + counter, "another process"},
	} {
		t.Run(c.name, func(t *testing.T) {
			testmain.LongBut(t, c.name, "./checker/internal/discipline", "flock", "released before the end", "mkdir",
				"depends on whether the lock is there", "depends on that later", "makes the file of the lock",
				"its maker does not lock", "its maker removes it", "O_EXCL", "O_EXCL, counts those who had it",
				"O_EXCL, gives up", "O_EXCL, decides by the listing", "depends on that", "sed -i", "no lock",
				"read before", "written afterwards", "shared", "the lock is removed", "a lock for each pid",
				"goes on without", "removes others' lock", "a child goes on", "a pipeline into the file",
				"children that overtake each other", "asks who lives")
			spec := command.Spec{Files: []command.File{{Name: "n", Content: "0\n"}, {Name: "s", Content: "a\n"},
				{Name: "job.sh", Content: c.script + "\n"}}}
			spec.Commands = []command.Line{{Argv: []string{"sh", "job.sh"}}, {Argv: []string{"sh", "job.sh"}}}
			sc, err := spec.Scenario()
			testmain.Traced(t, err, "./checker/internal/discipline")
			require.NoError(t, err)
			proof, err := discipline.ProveFew(t.Context(), &sc, 4)
			if c.why == "" || c.why == polls {
				require.NoError(t, err)
				require.Equal(t, c.name == "sed -i", proof.Closed)
				require.Equal(t, c.why == polls, proof.Polls)
				return
			}
			require.ErrorAs(t, err, &discipline.NotProved{})
			require.ErrorContains(t, err, c.why)
		})
	}
}

// filelock is what FileLock of the Python library of that name does: it looks whether the file is there, tries whether
// flock works at all, makes the file where there is none, and polls.
const filelock = `
import os, fcntl, sys, time
def take(fd):
    try: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: return False
    return True
def opened():
    if not os.path.lexists("lk"):
        fd = os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_EXCL)
        take(fd)
        os.close(fd)
        try: return os.open("lk", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError: pass
    return os.open("lk", os.O_RDWR)
while True:
    fd = opened()
    if take(fd): break
    os.close(fd)
    %s
x = int(open("n").read())
open("n", "w").write(str(x + 1))
fcntl.flock(fd, fcntl.LOCK_UN)
`

// A library that makes the file of its lock is proved, and is not if it goes on without the lock.
func TestFileOfALockIsMade(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/internal/discipline")
	python := testmain.Python(t, "./checker/internal/discipline")
	for _, c := range []struct{ otherwise, why string }{
		{"time.sleep(1)", ""},
		{"if os.path.exists('lk'): break", "reads a file that copies change"},
		{"os.unlink('lk')", "changes something: unlink lk"},
		{"sys.argv.append(1); len(sys.argv) < 9 or sys.exit()", "gives up"},
	} {
		spec := command.Spec{Files: []command.File{{Name: "n", Content: "0\n"}, {Name: "s", Content: "a\n"},
			{Name: "job.py", Content: fmt.Sprintf(filelock, c.otherwise)}}}
		job := command.Line{Argv: []string{python, "-SE", "job.py"}}
		spec.Commands = []command.Line{job, job}
		sc, err := spec.Scenario()
		testmain.Traced(t, err, "./checker/internal/discipline")
		require.NoError(t, err)
		proof, err := discipline.ProveFew(t.Context(), &sc, 3)
		if c.why == "" {
			require.NoError(t, err, c.otherwise)
			require.True(t, proof.Polls)
			continue
		}
		require.ErrorAs(t, err, &discipline.NotProved{}, c.otherwise)
		require.ErrorContains(t, err, c.why, c.otherwise)
	}
}
