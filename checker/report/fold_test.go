package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// The short story of a long run says how many steps it leaves out, and leaves out none that matters; a short run is
// shown whole.
func TestFold(t *testing.T) {
	left := 0
	for _, x := range exhibits() {
		r := exhibit(t, x.id, x.property)
		c := NewChart(r.Scenario, r.Counterexample)
		f := c.folded(0, shortRows)
		if len(c.Rows) <= wholeRows {
			require.Same(t, c, f)
			continue
		}
		require.LessOrEqual(t, len(f.Rows), shortRows)
		next := 1
		var shown []int
		for _, row := range f.Rows {
			next += row.Skipped
			require.Equal(t, next, row.N, x.id)
			require.Equal(t, c.Rows[row.N-1].Calls, row.Calls)
			shown = append(shown, row.N)
			next++
			left += row.Skipped
		}
		require.Equal(t, len(c.Rows)+1, next)
		if len(c.Named) < shortRows {
			require.Subset(t, shown, c.Named, x.id)
		}
	}
	require.Positive(t, left)
}

// There is one count of steps: every choice of the schedule is a row, and counted.
func TestOneCountOfSteps(t *testing.T) {
	r := exhibit(t, "ctx/excl/crash", scenarios.Wedge)
	n := len(r.Counterexample.Schedule)
	require.Len(t, NewChart(r.Scenario, r.Counterexample).Rows, n)
	require.Contains(t, costText(r.Counterexample.Cost, r.Counterexample.Schedule), numbers.Count(n, "step", "steps"))
	require.NotEqual(t, n, r.Counterexample.Cost.Steps, "a kill is a step here, too")
}

// Text is broken at blanks, or where it must be, and nothing of it is lost.
func TestBroken(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		want []string
	}{
		{"rename a b", 20, []string{"rename a b"}},
		{"rename one two three", 11, []string{"rename one", "two three"}},
		{"abcdefghij", 4, []string{"abcd", "ef", "gh", "ij"}},
		{`write "a  b"`, 9, []string{`write "a`, `b"`}},
		{"", 5, []string{""}},
		{"äöü äöü", 3, []string{"äöü", "ä", "ö", "ü"}},
	} {
		got := broken(c.text, c.n, 2)
		require.Equal(t, c.want, got)
		for i, l := range got {
			require.LessOrEqual(t, columns(l), max(c.n-2*min(i, 1), 1))
		}
	}
}
