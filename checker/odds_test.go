package checker

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/model"
	"lockpick/scenarios"
)

func oddsOf(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) float64 {
	t.Helper()
	r, err := Check(context.Background(), sc, p, Options{})
	require.NoError(t, err)
	return oddsIn(t, r)
}

func oddsIn(t *testing.T, r Result) float64 {
	t.Helper()
	require.Equal(t, Broken, r.Verdict, "%s %s", r.Scenario.ID, r.Property)
	return r.Odds
}

// agreesWithSample draws schedules uniformly and compares how many break the property
// with the exact odds: within four standard errors.
func agreesWithSample(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, odds float64, runs int) {
	t.Helper()
	s, err := Sample(context.Background(), sc, p, SampleOptions{Runs: runs, Seed: 42, KeepGoing: true})
	require.NoError(t, err)
	require.Equal(t, runs, s.Runs)
	got := float64(s.Failures) / float64(runs)
	se := math.Sqrt(odds * (1 - odds) / float64(runs))
	require.InDelta(t, odds, got, 4*se+1e-12, "%s %s: %d of %d", sc.ID, p, s.Failures, runs)
}

// A race of one step each: B reads what A writes. Half of the schedules are too early.
func TestOddsOfARace(t *testing.T) {
	fixtures.OnlyAnswers(t)
	daemons := scenarios.Setting{Processes: 2, Daemons: true}
	broken := scenarios.Claim{Property: scenarios.Deadlock, Verdict: Broken}
	stuck := func(t *scenarios.Task) { // who makes the file waits for ever: only its loser does not
		err := t.Mkdir("/first", 0o755)
		if (err == nil) == (t.Index == 0) {
			heldCell.Wait(t.Proc, func(held bool) bool { return held })
		}
	}
	// A waits when it is first, B when it is second: both or none.
	require.InDelta(t, 0.5, oddsOf(t, fixtures.Programs("toy/race/one", daemons, fixtures.Same(stuck), broken), scenarios.Deadlock), 1e-12)

	// With two steps before it, A is first with probability 1/2^3.
	late := fixtures.Programs("toy/race/late", daemons, func(process, _ int) scenarios.Program {
		return func(t *scenarios.Task) {
			if process == 0 {
				t.Work()
				t.Work()
			}
			stuck(t)
		}
	}, broken)
	require.InDelta(t, 0.125, oddsOf(t, late, scenarios.Deadlock), 1e-12)

	// With a crash there are more choices each time: no closed form, but a sample.
	crash := *late
	crash.Setting.Crashes = 1
	agreesWithSample(t, &crash, scenarios.Deadlock, oddsOf(t, &crash, scenarios.Deadlock), 20_000)
}

// With a retry loop the odds solve an equation: B polls until A has made a file, and
// then reads what A has written by then.
func TestOddsOfARetryLoop(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := fixtures.Programs("toy/race/poll", scenarios.Setting{Processes: 2, Daemons: true}, func(process, _ int) scenarios.Program {
		if process == 0 {
			return func(t *scenarios.Task) {
				scenarios.Record(t, model.Write{Value: "x"}, func() model.Written {
					_ = t.Symlink("x", "/word")
					return model.Written{}
				})
				_ = t.Mkdir("/second", 0o755)
			}
		}
		return func(t *scenarios.Task) {
			for retry := t.Retry(); retry.Next(); {
				if _, err := t.Readlink("/word"); err == nil {
					break
				}
			}
			// The wrong answer, unless A has made its second step.
			scenarios.Record(t, model.Read{}, func() model.ReadValue {
				if t.Mkdir("/second", 0o755) == nil {
					return model.ReadValue{Value: "y"}
				}
				return model.ReadValue{Value: "x"}
			})
		}
	}, scenarios.Claim{Property: scenarios.TornRead, Verdict: Broken})
	// However long B polls, A writes first. Then B must step twice before A does once: 1/4.
	odds := oddsOf(t, sc, scenarios.TornRead)
	require.InDelta(t, 0.25, odds, 1e-9)
	agreesWithSample(t, sc, scenarios.TornRead, odds, 20_000)
}

func TestOddsOfToysMatchSamples(t *testing.T) {
	testmain.Slow(t, "it draws thousands of schedules", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	// The odds themselves are those of brute force, to the ninth digit: see package bruteforce.
	runs := testmain.Many(1000, 2000, 8000)
	for _, sc := range allToys() {
		for _, c := range sc.Claims {
			if c.Verdict == Broken {
				agreesWithSample(t, sc, c.Property, oddsIn(t, decided(t, sc, c.Property)), runs)
			}
		}
	}
}

func TestOddsOfTheCatalogueMatchSamples(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	runs := testmain.Many(200, 500, 4000)
	for _, sc := range fixtures.Rows() {
		if largeRows[sc.ID] {
			continue
		}
		for _, c := range sc.Claims {
			if c.Verdict == Broken {
				agreesWithSample(t, &sc, c.Property, oddsIn(t, decided(t, &sc, c.Property)), runs)
			}
		}
	}
}

// What holds has no odds, and neither has what was not computed.
func TestNoOdds(t *testing.T) {
	sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	r, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	require.Negative(t, r.Odds)
	sc = fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2})
	r, err = Check(context.Background(), sc, scenarios.MutualExclusion, Options{SkipOdds: true})
	require.NoError(t, err)
	require.Negative(t, r.Odds)
}
