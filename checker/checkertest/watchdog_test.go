package checkertest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// A test ends within seconds when a program runs on without a call, checked or drawn, and says
// which, where, and what to do instead.
func TestTestsEndWhatRunsOn(t *testing.T) {
	testmain.Slow(t, "it waits for the watchdog", "./checker/checkertest")
	t.Parallel()
	for name, run := range map[string]func(t *capture, sc scenarios.Scenario){
		"checked": func(t *capture, sc scenarios.Scenario) { check(context.Background(), t, &sc, sc.Claims[0], nil) },
		"drawn":   func(t *capture, sc scenarios.Scenario) { Rapid(t, sc, scenarios.MutualExclusion) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sc := toyScenario(true, scenarios.Holds)
			sc.Program = func(int, int) scenarios.Program {
				return func(t *scenarios.Task) {
					_, _ = t.Acquire(toyLock, func() (scenarios.Hold, error) {
						t.Work()
						select {} // it waits for what no call is
					})
				}
			}
			got := captured("TestX", func(t *capture) { run(t, sc) })
			require.True(t, got.failed)
			for _, said := range []string{"task A of toy/lock/contend runs on without a call", "watchdog_test.go:", `after its call "work"`, "t.Sleep in a loop marked with t.Retry"} {
				require.Contains(t, got.log.String(), said)
			}
		})
	}
}
