package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// Folding loses no step, and hides none that matters.
func TestFold(t *testing.T) {
	folds := 0
	for _, x := range exhibits() {
		r := exhibit(t, x.id, x.property)
		c := NewChart(r.Scenario, r.Counterexample)
		next := 1
		for _, row := range c.folded(0).Rows {
			require.Equal(t, next, row.N, x.id)
			next += max(row.Folded, 1)
			if row.Folded == 0 {
				continue
			}
			folds++
			require.GreaterOrEqual(t, row.Folded, foldLeast)
			require.Contains(t, row.Calls[0].Call, "undisturbed")
			for _, hidden := range c.Rows[row.N-1 : next-1] {
				require.NotContains(t, c.Named, hidden.N, x.id)
				require.Equal(t, row.Lane, hidden.Lane)
				require.False(t, hidden.Wrong || hidden.Fault || hidden.Preempts)
			}
			require.Equal(t, c.Rows[next-2].Holding, row.Holding, "who holds is as after the last step")
		}
		require.Equal(t, len(c.Rows)+1, next)
	}
	require.Positive(t, folds)
}

// The steps of a cycle stay, and short counterexamples are not folded at all.
func TestFoldKeeps(t *testing.T) {
	r := exhibit(t, "openclaw-release/option-a/tasks+peer", scenarios.MutualExclusion)
	c := NewChart(r.Scenario, r.Counterexample)
	require.Less(t, len(c.folded(0).Rows), len(c.Rows))
	require.Len(t, c.folded(len(c.Rows)).Rows, len(c.Rows))
	short := exhibit(t, "ctx/stat-then-write/contend", scenarios.MutualExclusion)
	c = NewChart(short.Scenario, short.Counterexample)
	require.Same(t, c, c.folded(0))
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
