package search

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// What several programs are asked next, a worker alone finds out first, and then asks them side by
// side. What it learns and covers is what two workers find state by state, and it asks the same every time.
func TestLearningSideBySide(t *testing.T) {
	for _, s := range []scenarios.Setting{{Processes: 3}, {Processes: 2, Crashes: 1}, {Processes: 1}} {
		sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), s)
		sc.External = true
		cover := func(workers int) (counts []int, runs int) {
			x, err := NewExplorer(sc, scenarios.MutualExclusion)
			require.NoError(t, err)
			defer x.Close()
			c, err := x.Explore(t.Context(), Limits{Workers: workers}, x.Initial)
			require.NoError(t, err)
			require.True(t, c.Complete)
			l := x.Learned()
			return []int{c.Count(), c.Transitions, c.Violations, c.Contended, c.Depth, l.Edges, l.Machines}, l.Coroutines
		}
		want, runs := cover(1)
		states, _ := cover(2)
		require.Equal(t, states, want, "%+v", s)
		for range 3 {
			again, n := cover(1)
			require.Equal(t, want, again)
			require.Equal(t, runs, n, "%+v", s)
		}
	}
}

// A state that is expanded by itself has all its successors, also of an expander that has learned ahead.
func TestExpandingAfterLearningAhead(t *testing.T) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 3})
	sc.External = true
	x, err := NewExplorer(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	defer x.Close()
	w := engine.NewExpander(x.Space)
	row := slices.Clone(x.Initial)
	for range 3 {
		require.NoError(t, w.ExpandAhead(func(int) (int, []uint32) { return 0, row }, 0, 1))
		require.Len(t, w.Out, 3)
		row = slices.Clone(w.State(&w.Out[0]))
		require.NoError(t, w.Expand(row))
		require.Len(t, w.Out, 3)
		row = slices.Clone(w.State(&w.Out[1]))
	}
}
