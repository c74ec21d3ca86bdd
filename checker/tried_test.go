package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
)

// Rounds that were tried out for one property need not be for the next; nor may those of one
// scenario be taken for those of another.
func TestRoundsAreTriedOnce(t *testing.T) {
	fixtures.OneWorker(t)
	sc := fixtures.Row(t, "gateguard/excl-rmw/contend", 2)
	var tried Tried
	for _, p := range []*scenarios.Property{scenarios.LostUpdate, scenarios.Deadlock} {
		r, err := Check(t.Context(), sc, p, Options{Workers: 1, Tried: &tried})
		require.NoError(t, err)
		alone, err := Check(t.Context(), sc, p, Options{Workers: 1})
		require.NoError(t, err)
		require.Equal(t, alone.Verdict, r.Verdict)
		require.Equal(t, alone.Stats.States, r.Stats.States)
	}
	other := toys.All()[0]
	_, err := Check(t.Context(), &other, other.Claims[0].Property, Options{Tried: &tried})
	require.ErrorContains(t, err, "checker: Options.Tried was used for gateguard/excl-rmw/contend, and is now for "+other.ID)
}

// Programs are run again often enough once, and everything that is learned is run again each time:
// a program that has changed meanwhile is noticed.
func TestProgramsAreRunAgainOnce(t *testing.T) {
	starts, changed := 0, false
	sc := fixtures.Programs("toy/counted/contend", scenarios.Setting{Processes: 2}, fixtures.Same(func(t *scenarios.Task) {
		if starts++; changed && starts%10 == 0 {
			t.Work()
		}
		t.Sleep(1)
	}), scenarios.Claim{Property: scenarios.Deadlock, Verdict: Holds})
	var tried Tried
	check := func() (int, error) {
		before := starts
		_, err := Check(t.Context(), sc, scenarios.Deadlock, Options{Workers: 1, Tried: &tried})
		return starts - before, err
	}
	first, err := check()
	require.NoError(t, err)
	require.GreaterOrEqual(t, first, learn.Repeats)
	again, err := check()
	require.NoError(t, err)
	require.Less(t, again, 100)
	changed = true
	_, err = check()
	require.ErrorContains(t, err, "is not a function of its calls")
}
