//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// Whose owner has ended is told to the next who locks a robust mutex, although the owner has written its virtual id
// there.
func TestRobustMutexesAsOnTheKernel(t *testing.T) {
	testmain.Slow(t, "it waits for what sleeps", "./fsfake/tracer")
	t.Parallel()
	program := compiled("gcc", "-O1", "-w", "-pthread", "-o")(t, file(t, "robust.c"))[0]
	for _, how := range []string{"exit", "kill", "wait", "thread", "killed thread", "exec", "parent", "first", "join"} {
		want := native(t, program, how)
		got, _ := alone(t, newMachine(), config(program, how))
		require.Equal(t, want, got, how)
		cloned, _, clones, why := hops(t, newMachine(), config(program, how))
		require.Equal(t, want, cloned, how)
		require.Positive(t, clones, "%v", why)
	}
	run, err := tracer.Start(config(program, "parent"))
	require.NoError(t, err)
	defer run.Stop()
	m := newMachine()
	set, err := run.Next()
	for err == nil && len(set) > 0 {
		if p, _ := pick(m, set); p.Timer {
			m.KillProc(p.Task.Pid)
			require.NoError(t, run.Kill(p.Task.Pid))
		} else {
			require.NoError(t, run.Answer(p.Task, m.Do(p.Task, p.Op)))
		}
		set, err = run.Next()
	}
	require.NoError(t, err)
	require.Equal(t, "waiter EOWNERDEAD\n", run.Stdout())
}
