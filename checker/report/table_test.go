package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// A table that does not fit is one for each serial order, with the lines that differ, the closest order first.
func TestTableThatDoesNotFit(t *testing.T) {
	t.Parallel()
	rows := [][]string{
		{"", "here", "A then B", "B then A"},
		{"log", "1", "3", "2"},
		{"n", "1", strings.Repeat("2", 60), "1"},
		{"same", "x", "x", "x"},
	}
	p := &scenarios.Property{Table: func(scenarios.View) [][]string { return rows }}
	cx := &trace.Counterexample{Property: p, Trace: make(trace.Trace, 1)}
	for width, want := range map[int]string{
		100: `
         here   A then B                                   B then A
  log    1      3                                          2
  n      1      2222222222222222222222222222222222222222   1
  same   x      x                                          x
`,
		40: `
        here   B then A
  log   1      2

        here   A then B
  log   1      3
  n     1      22222222222222222
`,
	} {
		var text strings.Builder
		tl := &timeline{sheet: newSheet(&text, Options{Style: Style{Width: width}})}
		tl.table(cx)
		require.NoError(t, tl.w.Flush())
		got := strings.ReplaceAll(text.String(), "…", "2")
		require.Equal(t, strings.TrimSpace(want), strings.TrimSpace(got))
	}
}
