package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A space that needs more executions than are made at first, and is covered soon, costs as many as without schedules
// with few preemptions: what holds with these is not looked at apart.
func TestFewPreemptionsCostNothing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED with -short: 160 executions take seconds; go test ./scenarios/command runs it")
	}
	line := "flock n sh counter.sh; flock n sh counter.sh; flock n sh counter.sh"
	sc := scenario(t, "sh", twice(line), map[string]string{"n": "0\n"}, "")
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, r.Verdict, r.Why)
	require.Contains(t, r.Attempts, checker.Attempt{Name: "few preemptions", Why: "few preemptions break nothing"})
	require.LessOrEqual(t, r.Stats.Coroutines, 160)
}
