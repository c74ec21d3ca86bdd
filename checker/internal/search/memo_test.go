package search

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A run that follows what was learned of the tasks' code is the run of their code:
// under one seed the same choices come up, the same operations happen at the same
// times, and the judgement is the same.
func TestLearnedRunsAreLiveRuns(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 5
	}
	for _, sc := range fixtures.Rows() {
		p := sc.Claims[0].Property
		learned, err := NewTester(&sc, p)
		require.NoError(t, err)
		live, err := NewTester(&sc, p)
		require.NoError(t, err)
		live.Live = true
		for seed := range seeds {
			for _, st := range []func() sched.Strategy{
				func() sched.Strategy { return sched.NewRandom(seed) },
				func() sched.Strategy { return sched.NewPCT(seed, 30, 3) },
			} {
				want, err := live.Run(st(), false)
				require.NoError(t, err)
				got, err := learned.Run(st(), false)
				require.NoError(t, err)
				require.Equal(t, want, got, "%s, seed %d", sc.ID, seed)
			}
		}
	}
}

// A cast that is full forgets, and goes on.
func TestCastForgets(t *testing.T) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2})
	ts, err := NewTester(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	first, err := ts.Run(sched.NewRandom(1), false)
	require.NoError(t, err)
	old := ts.learned.Memo
	old.Most = 0
	again, err := ts.Run(sched.NewRandom(1), false)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotSame(t, old, ts.learned.Memo)
}

// What a run returns does not change when the next one uses the buffers again, and that does what it does
// with buffers of its own.
func TestOutcomesOutliveTheNextRun(t *testing.T) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2, Crashes: 1})
	for _, live := range []bool{false, true} {
		fresh := func() *Tester {
			ts, err := NewTester(sc, scenarios.MutualExclusion)
			require.NoError(t, err)
			ts.Live, ts.KeepHistory = live, true
			return ts
		}
		ts := fresh()
		a, err := ts.Run(sched.NewRandom(3), false)
		require.NoError(t, err)
		text, history := a.Schedule.String(), slices.Clone(a.History)
		for seed := range uint64(20) {
			got, err := ts.Run(sched.NewRandom(seed), false)
			require.NoError(t, err)
			want, err := fresh().Run(sched.NewRandom(seed), false)
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
		require.Equal(t, text, a.Schedule.String())
		require.Equal(t, history, a.History)
	}
}
