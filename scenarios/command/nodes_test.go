package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// FIFOs and sockets as locks. The truth of each: a name that one call makes and finds keeps others out; a look before
// it does not; and between its bind and its listen an owner is taken for dead.
func TestNodesAsLocks(t *testing.T) {
	for _, c := range []struct{ name, needs, line, verdict string }{
		{"mkfifo", "mkfifo", "mkfifo lock || exit 1; read x < n; echo $((x+1)) > n; rm lock", "holds"},
		{"a look before mkfifo", "mkfifo",
			"test -p lock && exit 1; mkfifo lock; read x < n; echo $((x+1)) > n; rm lock", "broken"},
		{"bind", "gcc", "", "holds"},
		{"bind and connect", "gcc", " stale", "broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.needs == "gcc" {
				c.line = compiled(t, "gcc", "sock.c") + c.line
			}
			sc := scenario(t, c.needs, twice(c.line), map[string]string{"n": "0\n"}, "refused 1")
			property, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			decide(t, sc, property, c.verdict)
		})
	}
}

// A FIFO and a socket of the start are copied, saved and made again.
func TestNodesOfTheStart(t *testing.T) {
	testmain.Needs(t, "mkfifo", "./scenarios/command")
	spec := command.Spec{ID: "test/commands/nodes", Timeout: time.Minute, Files: []command.File{
		{Name: "p", Node: fsfake.KindFIFO, Mode: 0o640}, {Name: "s", Node: fsfake.KindSocket, Mode: 0o755},
	}}
	for range 2 {
		spec.Commands = append(spec.Commands, command.Line{Shell: "test -p p && test -S s && echo yes"})
	}
	text, err := spec.Format()
	require.NoError(t, err)
	require.Contains(t, string(text), `fifo "p"`)
	require.Contains(t, string(text), `socket "s"`)

	dir := t.TempDir()
	require.NoError(t, spec.Write(dir, time.Now()))
	files, err := command.Copy(dir+spec.Dir, time.Now())
	require.NoError(t, err)
	kinds := map[string]fsfake.Kind{}
	for _, f := range files {
		kinds[strings.TrimPrefix(f.Name, "./")] = f.Node
	}
	require.Equal(t, fsfake.KindFIFO, kinds["p"])
	require.Equal(t, fsfake.KindSocket, kinds["s"])
}

// What is in a FIFO. Who puts his own letter in and takes one out may get that of the other, but under a lock. One
// token keeps the jobs of a command apart, two do not, and one that no job gives back leaves the other waiting. The
// wrong ends were seen natively, too.
func TestFIFOs(t *testing.T) {
	jobs := "mkfifo f.$$; exec 3<>f.$$; rm f.$$; job() { read -n 1 -u 3 t; read x <n; echo $((x+1)) >n; GIVE; }; " +
		"printf TOKENS >&3; job & job; wait"
	files := map[string]string{"own.sh": "exec 3<>p; printf $1 >&3; read -n 1 -u 3 t; echo $t > out.$1"}
	for name, with := range map[string][2]string{
		"one.sh": {"x", "printf x >&3"}, "two.sh": {"xx", ":"}, "lost.sh": {"x", ":"}} {
		files[name] = strings.NewReplacer("TOKENS", with[0], "GIVE", with[1]).Replace(jobs)
	}
	for _, c := range []struct {
		name, verdict, why string
		lines              []string
	}{
		{"whose letter", "broken", "", []string{"bash own.sh a", "bash own.sh b"}},
		{"under a lock", "holds", "", []string{"flock l bash own.sh a", "flock l bash own.sh b"}},
		{"one token", "holds", "", []string{"bash one.sh"}},
		{"two tokens", "unknown", "in more ways than one", []string{"bash two.sh"}},
		{"both ends", "holds", "", []string{"mkfifo q; read x <q & echo 5 >q; wait; rm q"}},
		{"a token lost", "", "waits for ever in read-fifo fd 3", []string{"bash lost.sh"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			testmain.Needs(t, "bash", "./scenarios/command")
			testmain.Needs(t, "flock", "./scenarios/command")
			spec := command.Spec{Files: []command.File{
				{Name: "p", Node: fsfake.KindFIFO, Mode: 0o644}, {Name: "l"}, {Name: "n", Content: "0\n"}}}
			for name, text := range files {
				spec.Files = append(spec.Files, command.File{Name: name, Content: text})
			}
			sc, err := asked(t, spec, c.lines, "refused none")
			if c.verdict == "" {
				require.ErrorContains(t, err, c.why)
				return
			}
			require.NoError(t, err)
			require.Contains(t, decide(t, sc, serializable(t, sc), c.verdict).Why, c.why)
		})
	}
}

// What passes through a socket is not modelled, and nobody opens the other end of a FIFO for one who runs alone.
func TestNodesThatAreOpened(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"mkfifo p; cat p", "waits for ever in open-fifo fd 3"},
		{"python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind(\"l\"); s.listen(); s.accept()'",
			"what others send to the socket l is not modelled: only whether it answers"},
	} {
		testmain.Needs(t, strings.Fields(c.line)[0], "./scenarios/command")
		line := command.Line{Shell: c.line}
		_, err := command.Spec{Commands: []command.Line{line, line}}.Scenario()
		needTracing(t, err)
		require.ErrorContains(t, err, c.says)
	}
}
