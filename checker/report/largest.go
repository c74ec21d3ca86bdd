package report

import (
	"fmt"
	"slices"
	"time"

	"lockpick/checker"
	"lockpick/internal/numbers"
)

// largest lists the verdicts that took most: by states, or with timings by time. Equals
// stay in the order of the results.
func (m *Tables) largest(results []checker.Result) {
	n := min(m.o.Largest, len(results))
	if n == 0 {
		return
	}
	order := make([]*checker.Result, len(results))
	for i := range results {
		order[i] = &results[i]
	}
	what := "largest"
	slices.SortStableFunc(order, func(a, b *checker.Result) int { return b.Stats.States - a.Stats.States })
	if m.o.Timings {
		what = "slowest"
		slices.SortStableFunc(order, func(a, b *checker.Result) int { return int(b.Elapsed - a.Elapsed) })
	}
	if m.written {
		m.line("")
	}
	m.line(m.o.paint(dim, what))
	for _, r := range order[:n] {
		line := fmt.Sprintf("  %16s  %22s", numbers.Count(r.Stats.States, "state", "states"), numbers.Count(r.Stats.Transitions, "transition", "transitions"))
		if m.o.Timings {
			line += fmt.Sprintf("  %8s", r.Elapsed.Round(time.Millisecond))
		}
		m.line(Clip(line+"  "+Visible(r.Scenario.ID)+"  "+r.Property.ID, m.o.width()))
	}
}
