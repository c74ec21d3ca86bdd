package search

import (
	"testing"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/history"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// BenchmarkSample measures drawn schedules per second on a lock that looks and then
// writes, with two processes: without judging the histories, with judging each distinct
// one, and with judging every one.
func BenchmarkSample(b *testing.B) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2},
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: scenarios.Broken})
	for _, c := range []struct {
		name     string
		unjudged bool
		forget   bool
	}{
		{"unjudged", true, false},
		{"judged", false, false},
		{"judged-anew", false, true},
	} {
		b.Run(c.name, func(b *testing.B) {
			t, err := NewTester(sc, scenarios.MutualExclusion)
			if err != nil {
				b.Fatal(err)
			}
			t.Unjudged = c.unjudged
			b.ReportAllocs()
			seed := uint64(0)
			for b.Loop() {
				if c.forget {
					spec := scenarios.MutualExclusion.Spec
					t.Judge = history.NewJudge(spec)
				}
				seed++
				if _, err := t.Run(sched.NewRandom(seed), false); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "schedules/s")
		})
	}
}

// BenchmarkPorcupine measures what porcupine takes for one history of two contenders,
// each of whom acquires and releases.
func BenchmarkPorcupine(b *testing.B) {
	h := history.NewRecorder(2)
	h.Invoke(0, 0, model.Acquire{Owner: "A"})
	h.Invoke(1, 1, model.Acquire{Owner: "B"})
	h.Return(0, 2, model.Acquired{OK: true})
	h.Invoke(0, 4, model.Release{Owner: "A"})
	h.Return(0, 5, model.Released{})
	h.Return(1, 6, model.Acquired{OK: true})
	h.Invoke(1, 7, model.Release{Owner: "B"})
	h.Return(1, 8, model.Released{})
	spec := scenarios.MutualExclusion.Spec
	m := spec.Porcupine()
	b.ReportAllocs()
	for b.Loop() {
		if !porcupine.CheckOperations(m, h.Ops) {
			b.Fatal("not linearizable")
		}
	}
}
