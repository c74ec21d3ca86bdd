package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/internal/testmain"
)

// To take places in a program for one changes no verdict and makes no space larger. Whichever way
// it is verified, what is broken is never covered without a violation. This is about rows; drawn
// protocols are compared with brute force (package bruteforce).
func TestMergingChangesNothing(t *testing.T) {
	testmain.Slow(t, "it covers spaces with and without merging", "./checker")
	t.Parallel()
	fixtures.OneWorker(t)
	const most = 1000
	rows := fixtures.SmallRows()
	for _, sc := range fixtures.All() {
		rows = append(rows, *sc)
	}
	fewer, broken := 0, 0
	for i := range rows {
		sc := &rows[i]
		var tried Tried
		for _, c := range sc.Claims {
			limits := search.Limits{States: most, Workers: 1}
			x, err := search.NewExplorer(sc, c.Property)
			require.NoError(t, err)
			x.Tried = &tried
			x.RememberMonitors()
			want, err := x.Explore(t.Context(), limits, x.Initial)
			require.NoError(t, err)
			if !want.Complete {
				continue
			}
			for _, limits.Runs = range []int{1000, -1} {
				y, err := search.NewExplorer(sc, c.Property)
				require.NoError(t, err)
				y.Tried = &tried
				y.RememberMonitors()
				got, how := y.ExploreMerged(t.Context(), limits)
				if want.Violations > 0 {
					broken++
					require.Equal(t, Unmerged, how, "%s %s", sc.ID, c.Property)
					continue
				}
				require.Equal(t, !c.Property.OfCycles(), how != Unmerged, "%s %s", sc.ID, c.Property)
				if how == Unmerged {
					continue
				}
				require.Equal(t, x.Facts(), y.Facts(), "%s %s", sc.ID, c.Property)
				require.Equal(t, x.Observed(), y.Observed(), "%s %s", sc.ID, c.Property)
				require.LessOrEqual(t, got.States.Len(), want.States.Len(), "%s %s", sc.ID, c.Property)
				if got.States.Len() < want.States.Len() {
					fewer++
				}
			}
		}
	}
	require.Positive(t, broken)
	require.Positive(t, fewer, "nothing was merged")
}
