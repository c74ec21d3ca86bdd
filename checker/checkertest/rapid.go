package checkertest

import (
	"flag"
	"os"
	"strings"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/internal/watchdog"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Runs is how many schedules [Rapid] draws.
const Runs = 10_000

// Rapid draws [Runs] schedules of sc, always the same ones, and fails when one breaks
// p: with that made smaller, as text, and the command that replays it.
//
// Any -rapid flag or RAPID_ variable puts rapid in charge: then it is
// rapid.Check(t, Property(&sc, p)), which draws as many schedules as -rapid.checks says
// under -rapid.seed.
func Rapid(t rapid.TB, sc scenarios.Scenario, p *scenarios.Property) {
	t.Helper()
	switch {
	case replayed(t, &sc, p):
	case rapidInCharge():
		runner, err := inTime(&sc, p)
		if err != nil {
			t.Fatalf("%s", fromHere(err.Error()))
		}
		rapid.Check(t, propertyOf(runner, &sc, p))
		lacking(t, runner)
	default:
		var runner *checker.Runner
		broken, err := watchdog.Over(func(w scenarios.Watchdog) (broken sched.Schedule, err error) {
			watched := watchedBy(w, &sc)
			if runner, err = checker.NewRunner(watched, p); err != nil {
				return nil, err
			}
			if broken, err = search(runner, watched, Runs); err != nil {
				return nil, err
			}
			lasting, err := runner.Lasting()
			if lasting == nil || err != nil {
				return broken, err
			}
			if sc, err = sc.In(lasting.Setting); err != nil {
				return nil, err
			}
			watched = watchedBy(w, &sc)
			if runner, err = checker.NewRunner(watched, p); err != nil {
				return nil, err
			}
			return search(runner, watched, Runs)
		})
		switch {
		case err != nil:
			t.Fatalf("%s", fromHere(err.Error()))
		case broken != nil:
			fail(t, &sc, p, found{runner, &sc, p, broken, t.Name()})
		}
		lacking(t, runner)
		t.Logf("%s: %s: %d drawn schedules broke nothing, which proves nothing", sc.ID, p, Runs)
	}
}

// inTime returns a runner of a scenario, which becomes one with sleeps that last when a few runs show
// that somebody can see how long.
func inTime(sc *scenarios.Scenario, p *scenarios.Property) (*checker.Runner, error) {
	runner, err := checker.NewRunner(sc, p)
	if err != nil {
		return nil, err
	}
	if _, err := search(runner, sc, 20); err != nil {
		return nil, err
	}
	lasting, err := runner.Lasting()
	if lasting == nil || err != nil {
		return runner, err
	}
	if *sc, err = sc.In(lasting.Setting); err != nil {
		return nil, err
	}
	return checker.NewRunner(sc, p)
}

// lacking fails a test whose schedules showed nothing that could have been wrong.
func lacking(t rapid.TB, runner *checker.Runner) {
	t.Helper()
	if err := runner.Lacking(); err != nil && !t.Failed() {
		t.Fatalf("%s", fromHere(err.Error()))
	}
}

// search returns the first of so many drawn schedules that breaks the property, or nil.
func search(runner *checker.Runner, sc *scenarios.Scenario, runs int) (sched.Schedule, error) {
	schedules := Schedules(sc)
	for seed := 1; seed <= runs; seed++ {
		ran, err := runner.Run(sched.RunToCompletion{Preemptions: schedules.Example(seed)}, false)
		if err != nil || ran.Broken {
			return ran.Schedule, err
		}
	}
	return nil, nil
}

// rapidInCharge reports whether the user has told rapid how to search.
func rapidInCharge() bool {
	told := false
	flag.Visit(func(f *flag.Flag) { told = told || strings.HasPrefix(f.Name, "rapid.") })
	for _, v := range os.Environ() {
		told = told || strings.HasPrefix(v, "RAPID_")
	}
	return told
}
