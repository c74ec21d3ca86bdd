package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// The smallest schedules of the toys with tasks that are started.
func TestStartedTasks(t *testing.T) {
	requireSmallest(t, startedToys(), map[string]string{
		"toy/rewritten/contend wedge":            "A4 A.2x4 A1 B2",
		"toy/rewritten-joined/crash wedge":       "A1! B2",
		"toy/start-then-store/threads assertion": "A1 A.2x1",
	})
}

// A thread that is there from the start, and waits to be told, is waited for where nobody tells it: the
// toy that holds is judged wrongly then.
func TestWithoutStarting(t *testing.T) {
	fixtures.OnlyAnswers(t)
	holds := startedToys()[1]
	require.Equal(t, Holds, decided(t, holds, scenarios.Deadlock).Verdict)
	require.Equal(t, Holds, decided(t, holds, scenarios.Wedge).Verdict)
	set := holds.Setting
	set.Running = nil
	begun := heldCell
	tell := func(t *scenarios.Task) { begun.Store(t.Proc, true) }
	wait := func(t *scenarios.Task) { begun.Wait(t.Proc, func(yes bool) bool { return yes }) }
	told := rewritten("toy/rewritten-told/contend", true, tell, wait, set, holds.Claims...)
	require.Equal(t, Broken, decided(t, told, scenarios.Deadlock).Verdict)
	untold := rewritten("toy/rewritten-untold/contend", true, tell, nil, set, holds.Claims...)
	require.Equal(t, Broken, decided(t, untold, scenarios.Wedge).Verdict)
}

// What cannot be started is an error of every engine.
func TestCannotStart(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, -1} {
		sc := fixtures.Programs("toy/start-again/once", scenarios.Setting{Processes: 1, Tasks: []int{2}, Running: []int{1}},
			func(_, task int) scenarios.Program {
				return func(t *scenarios.Task) {
					if task == 1 {
						t.Start(2)
						t.Start(n)
					}
					t.Work()
				}
			}, scenarios.Claim{Property: scenarios.Deadlock, Verdict: scenarios.Holds})
		for _, o := range []Options{{}, {oracle: referenceOf(10)}} {
			_, err := Check(context.Background(), sc, scenarios.Deadlock, o)
			require.ErrorContains(t, err, "each can be started once")
		}
		_, err := Sample(context.Background(), sc, scenarios.Deadlock, SampleOptions{Runs: 1})
		require.ErrorContains(t, err, "each can be started once")
	}
}
