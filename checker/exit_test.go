package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/model"
	"lockpick/scenarios"
)

// A write that ends with the process has been, or is not to be: somebody else completes the
// value after it, and a reader sees it come late, as after a write that returns or is killed.
func TestExitInsideAnOperation(t *testing.T) {
	for _, end := range []string{"return", "exit"} {
		sc := fixtures.New("toy/half-write/"+end, fixtures.Excl(), scenarios.Setting{Processes: 2, Fixed: true})
		sc.Program = func(process, _ int) scenarios.Program {
			if process == 1 {
				return func(t *scenarios.Task) {
					read := func() model.ReadValue {
						text, _ := t.ReadFile("/tmp/value")
						return model.ReadValue{Value: string(text)}
					}
					if _, err := t.Stat("/tmp/value"); err != nil {
						return
					}
					scenarios.Record(t, model.Read{}, read)
					_ = t.WriteFile("/tmp/value", []byte("ab"), 0o644)
					scenarios.Record(t, model.Read{}, read)
				}
			}
			return func(t *scenarios.Task) {
				scenarios.Record(t, model.Write{Value: "ab"}, func() model.Written {
					_, _ = t.Create("/tmp/value")
					if end == "exit" {
						t.Exit()
					}
					return model.Written{}
				})
			}
		}
		for _, o := range []Options{{}, {Memory: RememberMonitors}, {oracle: reference}} {
			r, err := Check(context.Background(), sc, scenarios.TornRead, o)
			require.NoError(t, err)
			require.Equal(t, Broken, r.Verdict, end)
		}
	}
}

// What a process holds until it exits is free after that: another may have it.
func TestHeldUntilExit(t *testing.T) {
	sc := fixtures.New("toy/flock-until-exit/contend", fixtures.Flock(), scenarios.Setting{Processes: 3})
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Acquire(fixtures.Lock, func() (scenarios.Hold, error) { return fixtures.Flock().Acquire(t) })
			t.Work()
		}
	}
	for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.ForeignRelease, scenarios.Deadlock} {
		r, err := Check(context.Background(), sc, p, Options{})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict, p)
	}
	two, err := sc.WithProcesses(2)
	require.NoError(t, err)
	for _, o := range []Options{{Memory: RememberMonitors}, {oracle: reference}} {
		r, err := Check(context.Background(), &two, scenarios.MutualExclusion, o)
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict)
	}
	sc.Setting.Daemons = true // nobody exits
	r, err := Check(context.Background(), sc, scenarios.Deadlock, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
}
