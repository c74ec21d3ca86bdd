package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// The smallest schedules of the toys with signal handlers.
func TestSignals(t *testing.T) {
	fixtures.OnlyAnswers(t)
	requireSmallest(t, signalToys(), map[string]string{
		"toy/trap/signal foreign-release": "A1 B^ B.2x1",
		"toy/trap/three mutual-exclusion": "A1 B^ B.2x2 C1",
		"toy/trap-exits/signal wedge":     "A1^ A.2x1 B2",
		"toy/count/signals assertion":     "A^ A.2x1^ A.2x1",
		"toy/trap-locks/signal deadlock":  "A2^ A.2x2 B2",
	})
}

func TestEnginesAgreeOnSignals(t *testing.T) {
	testmain.Slow(t, "it asks every engine about signals", "./checker")
	t.Parallel()
	enginesAgreeOn(t, signalToys())
}

func TestNoSymmetryWithHandlers(t *testing.T) {
	sc := *signalToys()[0]
	sc.Setting.Interchangeable = true
	x, err := engine.NewSpace(&sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	require.ErrorContains(t, x.Symmetric(), "it needs one task in each")
}

// Only the handler of a process with one task can leave: whoever goes on must not count as having released.
func TestWhoCannotLeave(t *testing.T) {
	leave := func(t *scenarios.Task) {
		t.Work()
		t.Leave(fixtures.Lock, t.Work)
	}
	claim := scenarios.Claim{Property: scenarios.Deadlock, Verdict: scenarios.Holds}
	two := scenarios.Setting{Processes: 1, Tasks: []int{2}, Handlers: []int{0}, Signals: 1}
	for _, sc := range []*scenarios.Scenario{
		fixtures.Programs("toy/leave/no-handler", scenarios.Setting{Processes: 1}, fixtures.Same(leave), claim),
		fixtures.Programs("toy/leave/two-tasks", two, func(_, task int) scenarios.Program {
			if task == 3 {
				return leave
			}
			return fixtures.Same(func(t *scenarios.Task) { t.Work() })(0, task)
		}, claim),
	} {
		_, err := Check(t.Context(), sc, scenarios.Deadlock, Options{})
		require.ErrorContains(t, err, "is not the signal handler")
	}
}
