package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

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
	for _, sc := range rows() {
		p := sc.Claims[0].Property
		learned, err := newTester(&sc, p)
		require.NoError(t, err)
		live, err := newTester(&sc, p)
		require.NoError(t, err)
		live.live = true
		for seed := range seeds {
			for _, st := range []func() sched.Strategy{
				func() sched.Strategy { return sched.NewRandom(seed) },
				func() sched.Strategy { return sched.NewPCT(seed, 30, 3) },
			} {
				want, err := live.run(st(), false)
				require.NoError(t, err)
				got, err := learned.run(st(), false)
				require.NoError(t, err)
				require.Equal(t, want, got, "%s, seed %d", sc.ID, seed)
			}
		}
	}
}

// A cast that is full forgets, and goes on.
func TestCastForgets(t *testing.T) {
	sc := toy("toy/stat/contend", toyStatThenWrite(), scenarios.Setting{Processes: 2})
	ts, err := newTester(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	first, err := ts.run(sched.NewRandom(1), false)
	require.NoError(t, err)
	old := ts.learned.memo
	old.Most = 0
	again, err := ts.run(sched.NewRandom(1), false)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.NotSame(t, old, ts.learned.memo)
}

// What a run returns does not change when the next one uses the buffers again.
func TestOutcomesOutliveTheNextRun(t *testing.T) {
	sc := toy("toy/stat/contend", toyStatThenWrite(), scenarios.Setting{Processes: 2})
	ts, err := newTester(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	a, err := ts.run(sched.NewRandom(3), false)
	require.NoError(t, err)
	text := a.schedule.String()
	for seed := range uint64(20) {
		_, err := ts.run(sched.NewRandom(seed), false)
		require.NoError(t, err)
	}
	require.Equal(t, text, a.schedule.String())
}
