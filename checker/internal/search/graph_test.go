package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// Of a space that was left early as many schedules are counted as differ in what was covered, with
// any number of workers, and nothing is learned for it.
func TestSchedulesOfAPart(t *testing.T) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 3})
	count := func(states, workers int) float64 {
		x, err := NewExplorer(sc, scenarios.MutualExclusion)
		require.NoError(t, err)
		defer x.Close()
		limits := Limits{Enough: states, Workers: workers}
		c, err := x.Explore(t.Context(), limits, x.Initial)
		require.NoError(t, err)
		require.Equal(t, states != 0, c.Enough)
		learned := x.Learned()
		n, err := x.Schedules(t.Context(), c, limits)
		require.NoError(t, err)
		require.Equal(t, learned, x.Learned())
		return n
	}
	var counts []float64
	for _, states := range []int{20, 2000, 0} {
		counts = append(counts, count(states, 1))
		require.Equal(t, counts[len(counts)-1], count(states, 2))
	}
	require.IsIncreasing(t, counts)
}
