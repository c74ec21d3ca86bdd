package checker

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/internal/race"
	"lockpick/model"
	"lockpick/scenarios"
)

// everyEngine asks every engine for the verdict: a graph with monitors, the reference, and
// samples, which can only find what is broken.
func everyEngine(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, want Verdict) {
	t.Helper()
	if race.Detector {
		t.Log("SKIPPED under the race detector: one worker, the reference engine and samples, each of them one goroutine; go test ./checker runs them")
		return
	}
	ctx := context.Background()
	for _, o := range []Options{{Workers: 1, Memory: RememberMonitors}, {oracle: reference}} {
		r, err := Check(ctx, sc, p, o)
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict, "reference %t: %s", o.oracle != nil, r.Why)
	}
	if want == Broken {
		s, err := Sample(ctx, sc, p, SampleOptions{Runs: 2000})
		require.NoError(t, err)
		require.Equal(t, Broken, s.Verdict, "%d samples broke nothing", s.Runs)
	}
}

// Two processes that take two locks in opposite orders: that one might still be killed does not
// make it less of a deadlock.
func TestDeadlockWithFaultsLeft(t *testing.T) {
	t.Parallel()
	for _, st := range []scenarios.Setting{
		{Processes: 2, Crashes: 1}, {Processes: 2, Stalls: 1, StallFor: 1}, {Processes: 2, Crashes: 2, Stalls: 1, StallFor: 1},
	} {
		sc := fixtures.Programs("toy/flock-twice/faults", st, flockTwice,
			scenarios.Claim{Property: scenarios.Deadlock, Verdict: Broken})
		everyEngine(t, sc, scenarios.Deadlock, Broken)
		r, err := Check(context.Background(), sc, scenarios.Deadlock, Options{})
		require.NoError(t, err)
		require.Zero(t, r.Counterexample.Cost.Crashes+r.Counterexample.Cost.Stalls)
		if race.Detector {
			t.Log("SKIPPED under the race detector: samples, which one goroutine draws; go test ./checker compares them with the odds")
			continue
		}
		const runs = 20_000
		s, err := Sample(context.Background(), sc, scenarios.Deadlock, SampleOptions{Runs: runs, KeepGoing: true})
		require.NoError(t, err)
		require.InEpsilon(t, r.Odds*runs, s.Failures, 0.5, "about 27 to 36 are expected")
	}
}

// twice appends an entry twice: whoever gets so far has broken the property.
func twice(t *scenarios.Task) {
	for range 2 {
		scenarios.Record(t, model.Append{Entry: 1}, func() model.Appended { t.Work(); return model.Appended{} })
	}
}

// A loop that reads on in a file sees something else in every round, although nobody changes
// anything.
func TestRoundsThatReadOn(t *testing.T) {
	sc := fixtures.Programs("toy/read-on/alone", scenarios.Setting{Processes: 1}, fixtures.Same(func(t *scenarios.Task) {
		f, err := t.Open("/lines")
		if err != nil {
			return
		}
		for retry := t.Retry(); retry.Next(); {
			buf := make([]byte, 1)
			if n, _ := f.Read(buf); n == 0 {
				break
			}
		}
		twice(t)
	}), scenarios.Claim{Property: scenarios.Duplicate, Verdict: Broken})
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/lines", []byte("abc"), 0o644) }
	everyEngine(t, sc, scenarios.Duplicate, Broken)
}

// A stall that comes late in a round is seen in the next.
func TestRoundsAndStalls(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := fixtures.Programs("toy/late-stall/alone", scenarios.Setting{Processes: 1, Stalls: 1, StallFor: time.Hour}, fixtures.Same(func(t *scenarios.Task) {
		begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for retry := t.Retry(); retry.Next(); {
			if t.Now().Sub(begun) > 0 {
				break
			}
			t.Sleep(1)
			t.Work()
		}
		twice(t)
	}), scenarios.Claim{Property: scenarios.Duplicate, Verdict: Broken})
	everyEngine(t, sc, scenarios.Duplicate, Broken)
	s, err := Sample(context.Background(), sc, scenarios.Duplicate, SampleOptions{Runs: 2000, KeepGoing: true})
	require.NoError(t, err)
	require.Equal(t, s.Runs, s.Failures, "the stall comes in every run, and then the loop ends")
}

// B's release is noticed by nobody on the machine, but from then on A is refused for nothing.
func TestRoundsAndAnswersOfOthers(t *testing.T) {
	sc := fixtures.Programs("toy/silent-release/contend", scenarios.Setting{Processes: 2}, func(process, _ int) scenarios.Program {
		if process == 1 {
			return scenarios.Once(scenarios.Protocol{
				Path:    fixtures.Lock,
				Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { t.Work(); return scenarios.Hold{}, nil },
				Release: func(t *scenarios.Task, _ scenarios.Hold) error { t.Work(); return nil },
			})
		}
		refused := scenarios.Protocol{
			Path: fixtures.Lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				_, err := t.OpenFile("/held", os.O_CREATE|os.O_EXCL, 0o644)
				return scenarios.Hold{}, err
			},
		}
		return func(t *scenarios.Task) {
			if _, err := t.Stat("/waiting"); err == nil {
				return
			}
			for retry := t.Retry(); retry.Next(); {
				if scenarios.Locked(t, refused, func() {}) == nil {
					return
				}
			}
		}
	}, scenarios.Claim{Property: scenarios.SpuriousFailure, Verdict: Broken})
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/held", nil, 0o644) }
	sc.Setting.Daemons = true // an exit would be noticed
	s, err := Sample(context.Background(), sc, scenarios.SpuriousFailure, SampleOptions{Runs: 500, KeepGoing: true})
	require.NoError(t, err)
	require.Equal(t, s.Runs, s.Failures, "whatever came before, A tries again after B")
}
