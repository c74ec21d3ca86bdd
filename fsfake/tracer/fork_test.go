//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// A child that ends just before its parent starts another one sends a signal, so that the kernel begins the second
// fork(2) anew. The machine is asked once all the same: nothing lives there that never runs.
func TestForkThatBeginsAnew(t *testing.T) {
	m := newMachine()
	run, err := tracer.Start(config("sh", "-c", ": > a & : > b & wait"))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	forks := 0
	for {
		set, err := run.Next()
		require.NoError(t, err)
		if len(set) == 0 {
			break
		}
		p := set[len(set)-1] // the youngest goes first
		if p.Op.Call == fsfake.CallFork {
			forks++
		}
		require.NoError(t, run.Answer(p.Task, answer(m, p)))
	}
	require.Equal(t, 2, forks)
	require.Equal(t, "1", m.Proc(1).Do(fsfake.Op{Call: fsfake.CallProcs}).Data)
}
