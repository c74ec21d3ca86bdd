//go:build linux && amd64

package tracer_test

import (
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake/tracer"
)

// Whoever starts programs beside traced runs, in the same process, waits for them as ever: the
// tracer takes nobody else's children, and does not wait for their end.
func TestChildrenOfOthers(t *testing.T) {
	const side, rounds = 8, 8
	run, err := tracer.Start(config("true"))
	skipUntraceable(t, err)
	require.NoError(t, err)
	run.Stop()
	sleeper := exec.Command(need(t, "sleep"), "20") // on some thread, which is not to be taken
	require.NoError(t, sleeper.Start())
	defer func() {
		require.NoError(t, sleeper.Process.Kill())
		require.Error(t, sleeper.Wait())
		require.NotNil(t, sleeper.ProcessState, "its end was lost")
	}()
	var beside, all sync.WaitGroup
	var over atomic.Bool
	for range side {
		beside.Go(func() {
			for !over.Load() {
				cmd := exec.Command("sleep", "0.002")
				if err := cmd.Run(); err != nil {
					t.Errorf("a command that is not the tracer's: %v", err)
					return
				}
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for range rounds {
				run, err := tracer.Start(config("true"))
				if err != nil {
					t.Errorf("tracer: %v", err)
					return
				}
				set, err := run.Next()
				for err == nil && len(set) > 0 {
					m := newMachine()
					if err = run.Answer(set[0].Task, answer(m, set[0])); err == nil {
						set, err = run.Next()
					}
				}
				if err != nil {
					t.Errorf("tracer: %v", err)
				}
				run.Stop()
			}
		})
	}
	all.Wait()
	over.Store(true)
	beside.Wait()
}
