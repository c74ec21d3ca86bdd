package checker

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// benchExplore explores a space again and again and reports on it.
func benchExplore(b *testing.B, sc *scenarios.Scenario, p *scenarios.Property, workers int, watched bool) {
	b.Helper()
	states, transitions, coroutines, memory, rows := 0, 0, 0, 0, 0
	for b.Loop() {
		x, err := search.NewExplorer(sc, p)
		require.NoError(b, err)
		if watched {
			x.Histories.RememberMonitors()
		}
		c, err := x.Explore(context.Background(), search.Limits{Workers: workers}, x.Initial)
		require.NoError(b, err)
		require.True(b, c.Complete, c.Why)
		var s Stats
		s.learned(x)
		states, transitions, coroutines = c.States.Len(), transitions+c.Transitions, s.Coroutines
		memory, rows = x.Bytes(c.States), c.States.Bytes()
	}
	b.ReportMetric(float64(transitions)/b.Elapsed().Seconds(), "transitions/s")
	b.ReportMetric(float64(states), "states")
	b.ReportMetric(float64(rows)/float64(states), "B/state")
	b.ReportMetric(float64(memory)/float64(states), "B/state-with-machines")
	b.ReportMetric(float64(coroutines), "coroutine-runs")
}

// The mark is 1.5 million transitions/s on one core, and 120 bytes for a stored state.
func BenchmarkStatThenWriteThree(b *testing.B) {
	sc := fixtures.Row(b, "ctx/stat-then-write/contend", 3)
	b.Run("histories", func(b *testing.B) { benchExplore(b, sc, scenarios.MutualExclusion, 1, false) })
	b.Run("monitors", func(b *testing.B) { benchExplore(b, sc, scenarios.MutualExclusion, 1, true) })
	b.Run("duplicate", func(b *testing.B) { benchExplore(b, sc, scenarios.Duplicate, 1, false) })
}

// A space of more than a million states.
func BenchmarkFlockRMWCrash(b *testing.B) {
	sc := fixtures.Row(b, "gateguard/flock-rmw/crash", 3)
	for workers := 1; workers <= 2; workers++ {
		b.Run(map[int]string{1: "one worker", 2: "two workers"}[workers], func(b *testing.B) {
			benchExplore(b, sc, scenarios.LostUpdate, workers, false)
		})
	}
}

// Two workers on two processors against one on one, on a space of more than a million states. With two
// processors the garbage of a single worker would be collected beside it.
// They take turns, so that what else the computer does hits both.
func BenchmarkTwoWorkersAgainstOne(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("SKIPPED: two workers need two processors, and there is one; run it where there are two")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	sc := fixtures.Row(b, "gateguard/flock-rmw/crash", 3)
	var took [3]time.Duration
	for b.Loop() {
		for workers := 1; workers <= 2; workers++ {
			runtime.GOMAXPROCS(workers)
			begin := time.Now()
			x, err := search.NewExplorer(sc, scenarios.LostUpdate)
			require.NoError(b, err)
			c, err := x.Explore(context.Background(), search.Limits{Workers: workers}, x.Initial)
			require.NoError(b, err)
			require.Greater(b, c.States.Len(), 1_000_000)
			took[workers] += time.Since(begin)
		}
	}
	b.ReportMetric(took[1].Seconds()/took[2].Seconds(), "speedup")
}

// Four processes and a crash are no matter.
func BenchmarkFlockFour(b *testing.B) {
	sc := fixtures.Row(b, "ctx/flock/crash", 4)
	require.Equal(b, 1, sc.Setting.Crashes)
	var s Stats
	for b.Loop() {
		for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.Wedge} {
			r, err := Check(context.Background(), sc, p, Options{})
			require.NoError(b, err)
			require.Equal(b, Holds, r.Verdict, r.Why)
			if p == scenarios.MutualExclusion {
				s = r.Stats
			}
		}
	}
	b.ReportMetric(float64(s.States), "states")
	b.ReportMetric(float64(s.Transitions), "transitions")
}

// Against replaying: how many complete runs of the program the reference engine makes,
// for each that the graph makes, and how much longer it takes. Both engines run, and the
// number of schedules is also counted over the graph.
func BenchmarkAgainstReplaying(b *testing.B) {
	for _, c := range []struct {
		name      string
		processes int
	}{{"two processes", 2}, {"three processes", 3}} {
		b.Run(c.name, func(b *testing.B) {
			sc := fixtures.Row(b, "ctx/excl/contend", c.processes)
			counted, err := countSchedules(sc)
			require.NoError(b, err)
			var graph, reference Result
			var took [2]time.Duration
			for b.Loop() {
				for i, o := range []Options{{Workers: 1}, {oracle: referenceOf(10_000_000)}} {
					begin := time.Now()
					r, err := Check(context.Background(), sc, scenarios.MutualExclusion, o)
					took[i] += time.Since(begin)
					require.NoError(b, err)
					require.Equal(b, Holds, r.Verdict, r.Why)
					graph, reference = reference, r
				}
			}
			require.Equal(b, counted.Int64(), int64(reference.Stats.Schedules))
			b.ReportMetric(float64(reference.Stats.Schedules), "schedules")
			b.ReportMetric(float64(graph.Stats.Coroutines), "coroutine-runs")
			// Each schedule runs the code of every process; a coroutine run that of one.
			b.ReportMetric(float64(reference.Stats.Schedules*c.processes)/float64(graph.Stats.Coroutines), "runs-avoided")
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "times-faster")
		})
	}
}
