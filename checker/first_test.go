package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// Of a large space that is broken the smallest counterexample is shown, the one that the whole
// space has, and the rest is left alone. What is said does not depend on who worked on it.
func TestTheViolationFirst(t *testing.T) {
	testmain.Slow(t, "it covers large spaces to their end", "./checker")
	t.Parallel()
	five := scenarios.Setting{Processes: 5}
	for _, c := range []struct {
		sc *scenarios.Scenario
		p  *scenarios.Property
	}{
		{fixtures.New("toy/look/large", fixtures.StatThenWrite(), five, scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Broken}), scenarios.MutualExclusion},
		{fixtures.Programs("toy/flock-twice/large", scenarios.Setting{Processes: 6, Crashes: 1}, flockTwice,
			scenarios.Claim{Property: scenarios.Deadlock, Verdict: Broken}), scenarios.Deadlock},
	} {
		whole, err := Check(t.Context(), c.sc, c.p, Options{Full: true, SkipOdds: true})
		require.NoError(t, err)
		require.True(t, whole.Complete)
		require.Greater(t, whole.Stats.States, smallSpace, "the space of %s is small", c.sc.ID)
		var first *Result
		asked := []Options{{Workers: 3}, {Workers: 1, Whole: true, States: 2 * smallSpace}}
		if testmain.Long() {
			asked = append(asked, Options{Workers: 1}, Options{Memory: RememberMonitors}, Options{Memory: RememberHistories})
		}
		for _, o := range asked {
			r, err := Check(t.Context(), c.sc, c.p, o)
			require.NoError(t, err)
			require.Equal(t, Broken, r.Verdict)
			require.True(t, r.Counterexample.Smallest)
			require.Equal(t, whole.Counterexample.Schedule, r.Counterexample.Schedule)
			require.False(t, r.Complete)
			require.Empty(t, r.Why)
			require.Negative(t, r.Odds)
			require.Contains(t, r.OddsWhy, "more than 50000 states")
			require.Less(t, r.Stats.States, whole.Stats.States)
			r.Attempts = nil // they have names of their own
			if first == nil {
				first = &r
			}
			require.Equal(t, *first, r)
		}
	}
}

// What was learned with histories is of use with monitors: the second attempt runs no code of
// the programs, but to check what it has.
func TestMonitorsGoOnWithWhatIsLearned(t *testing.T) {
	if race.Detector {
		t.Skip("SKIPPED under the race detector: it counts how often code is run in a large space, which takes too long; TestWorkersAgree and TestWhatWasSeenIsNeverUnknown have workers side by side; go test ./checker runs it")
	}
	sc := fixtures.New("toy/excl/large", fixtures.Excl(), scenarios.Setting{Processes: 5, Crashes: 1})
	one, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Memory: RememberMonitors})
	require.NoError(t, err)
	both, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, both.Verdict)
	require.Equal(t, one.Stats.Coroutines, both.Stats.Coroutines)
	require.Equal(t, one.Stats.States, both.Stats.States)
	require.Equal(t, one.Stats.Transitions, both.Stats.Transitions)
	require.Zero(t, both.Stats.Histories, "it did not change over")
}
