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

// What passes through a FIFO or a socket is not modelled, and the error says which.
func TestNodesThatAreOpened(t *testing.T) {
	for _, c := range []struct{ line, says string }{
		{"mkfifo p; cat p", "opening the FIFO p, which waits until its other end is opened, is not modelled"},
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
