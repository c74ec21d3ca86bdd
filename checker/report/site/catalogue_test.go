package site

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/decided"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
)

// maxSite is what the site of all scenarios may weigh.
const maxSite = 5 << 20

// catalogue is a result for each claim of the core. What holds in more than 20 000 states is
// not decided here: internal/reference decides it, with every other row, and it is on record.
func catalogue(t *testing.T) []checker.Result {
	t.Helper()
	rs, err := decide(all.Core(), checker.Options{SkipOdds: true, States: 20_000})
	require.NoError(t, err)
	for i := range rs {
		r := &rs[i]
		row, ok := decided.Of(r.Scenario.ID, r.Property.ID)
		require.True(t, ok, "%s %s is not on record", r.Scenario.ID, r.Property)
		if r.Verdict == checker.Unknown && row.Verdict == checker.Holds.String() {
			r.Verdict, r.Complete, r.Why = checker.Holds, true, ""
		} else if r.Verdict == checker.Unknown { // the first violation lies further away
			*r, err = checker.Check(t.Context(), r.Scenario, r.Property, checker.Options{SkipOdds: true})
			require.NoError(t, err)
		}
		require.Equal(t, row.Verdict, r.Verdict.String(), "%s %s", r.Scenario.ID, r.Property)
		if r.Verdict == checker.Broken {
			require.Equal(t, row.Schedule, r.Counterexample.Schedule.String())
		}
	}
	return rs
}

// The site of everything that lockpick brings along.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("SKIPPED with -short: it writes the whole catalogue and opens every page in a browser; go test ./checker/report/site runs it")
	}
	rs := catalogue(t)
	dir := t.TempDir()
	require.NoError(t, Write(dir, rs, report.Options{}))
	site := files(t, dir)

	weight := 0
	for _, page := range site {
		weight += len(page)
	}
	t.Logf("%d files, %d bytes", len(site), weight)
	require.Less(t, weight, maxSite)
	checkLinks(t, site)

	t.Run("every page in a browser", func(t *testing.T) {
		b := openTab(t)
		// One load does for both widths, for no script asks how wide a page is while it loads. Every other
		// page is narrow first.
		widths := []int{1360, 390}
		for i, name := range sorted(site) {
			if i%testmain.Many(8, 8, 1) != 0 {
				continue // most are made as those before them
			}
			b.look(widths[0], 900, "dark")
			b.open(fileURL(dir, name))
			require.False(t, b.sticksOut(widths[0]), "%s sticks out of %d", name, widths[0])
			b.look(widths[1], 900, "dark")
			require.False(t, b.sticksOut(widths[1]), "%s sticks out of %d", name, widths[1])
			slices.Reverse(widths)
			require.Empty(t, b.problems, name)
		}
	})
}

// sticksOut reports whether the page is wider than the window, which is that wide.
func (b *tab) sticksOut(width int) bool {
	b.t.Helper()
	is := b.number(`document.documentElement.clientWidth`)
	require.Equal(b.t, width, is, "the window has another width")
	return b.number(`document.documentElement.scrollWidth`) > width
}
