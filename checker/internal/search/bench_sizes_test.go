package search

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
)

// BenchmarkSizes covers, on one worker, the protocols that were counted with SPIN, too: as they
// are, and up to symmetry. The table in ARCHITECTURE.md is its output.
func BenchmarkSizes(b *testing.B) {
	for _, s := range sizes() {
		name := fmt.Sprintf("%s/%d", s.Name, s.Processes)
		b.Run(name+"/learned", func(b *testing.B) { benchSize(b, &s, false) })
		if s.Alike {
			b.Run(name+"/symmetry", func(b *testing.B) { benchSize(b, &s, true) })
		}
	}
}

func benchSize(b *testing.B, s *size, alike bool) {
	transitions := 0
	var c *Coverage
	var x *Explorer
	var tried learn.Tried // retry loops are tried out once
	for b.Loop() {
		var err error
		x, err = NewExplorer(s.Scenario(), scenarios.Deadlock)
		require.NoError(b, err)
		x.Tried = &tried
		if alike {
			require.NoError(b, x.Symmetric())
		}
		c, err = x.Explore(context.Background(), Limits{Workers: 1, States: 3_000_000}, x.Initial)
		require.NoError(b, err)
		if !c.Complete {
			b.Skipf("SKIPPED: the space was not covered, so that its counts would mean nothing: %s", c.Why)
		}
		transitions = c.Transitions
	}
	states := float64(c.States.Len())
	b.ReportMetric(states, "states")
	b.ReportMetric(states/float64(s.Spin), "of-SPIN's")
	b.ReportMetric(float64(transitions), "transitions")
	b.ReportMetric(float64(transitions)*float64(b.N)/b.Elapsed().Seconds(), "transitions/s")
	l := x.Learned()
	b.ReportMetric(float64(l.Coroutines), "coroutine-runs")
	b.ReportMetric(float64(l.Machines), "machines")
	b.ReportMetric(float64(x.Bytes(c.States))/states, "B/state")
}
