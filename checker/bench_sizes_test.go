package checker

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// BenchmarkSizes covers, on one worker, the protocols that were counted with SPIN, too. The table
// in ARCHITECTURE.md is its output.
func BenchmarkSizes(b *testing.B) {
	for _, s := range fixtures.Sizes() {
		b.Run(fmt.Sprintf("%s/%d", s.Name, s.Processes), func(b *testing.B) {
			states, transitions, memory, machines := 0, 0, 0, 0
			var tried Tried // retry loops are tried out once
			for b.Loop() {
				x, err := search.NewExplorer(s.Scenario(), scenarios.Deadlock)
				require.NoError(b, err)
				x.Tried = &tried
				c, err := x.Explore(context.Background(), search.Limits{Workers: 1, States: 3_000_000}, x.Initial)
				require.NoError(b, err)
				require.True(b, c.Complete, c.Why)
				states, transitions, memory = c.States.Len(), c.Transitions, x.Bytes(c.States)
				machines = x.Learned().Machines
			}
			b.ReportMetric(float64(states), "states")
			b.ReportMetric(float64(states)/float64(s.Spin), "of-SPIN's")
			b.ReportMetric(float64(transitions), "transitions")
			b.ReportMetric(float64(transitions)*float64(b.N)/b.Elapsed().Seconds(), "transitions/s")
			b.ReportMetric(float64(machines), "machines")
			b.ReportMetric(float64(memory)/float64(states), "B/state")
		})
	}
}
