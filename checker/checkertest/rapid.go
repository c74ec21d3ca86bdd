package checkertest

import (
	"flag"
	"os"
	"strconv"
	"strings"
	"sync"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/internal/watchdog"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Runs is how many schedules [Rapid] draws.
const Runs = 10_000

// Rapid draws [Runs] schedules of sc, always the same ones, and fails when one breaks
// p: with the schedule that rapid shrinks it to, as text, and the command that replays
// it.
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
		seed, err := watchdog.Over(func(w scenarios.Watchdog) (seed int, err error) {
			watched := watchedBy(w, &sc)
			if runner, err = checker.NewRunner(watched, p); err != nil {
				return 0, err
			}
			if seed, err = search(runner, watched, Runs); err != nil {
				return 0, err
			}
			lasting, err := runner.Lasting()
			if lasting == nil || err != nil {
				return seed, err
			}
			if sc, err = sc.In(lasting.Setting); err != nil {
				return 0, err
			}
			watched = watchedBy(w, &sc)
			if runner, err = checker.NewRunner(watched, p); err != nil {
				return 0, err
			}
			return search(runner, watched, Runs)
		})
		if err != nil {
			t.Fatalf("%s", fromHere(err.Error()))
		}
		if seed == 0 {
			lacking(t, runner)
			t.Logf("%s: %s: %d drawn schedules broke nothing, which proves nothing", sc.ID, p, Runs)
			return
		}
		shrink(t, seed, Property(&sc, p))
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

// search returns the first seed from 1 to runs whose schedule breaks the property, or 0.
func search(runner *checker.Runner, sc *scenarios.Scenario, runs int) (int, error) {
	schedules := Schedules(sc)
	for seed := 1; seed <= runs; seed++ {
		ran, err := runner.Run(sched.RunToCompletion{Preemptions: schedules.Example(seed)}, false)
		switch {
		case err != nil:
			return 0, err
		case ran.Broken:
			return seed, nil
		}
	}
	return 0, nil
}

// pinning guards rapid's flags while one check runs under a seed of ours.
var pinning sync.Mutex

// shrink lets rapid find the failure of a seed, which it does with its first check, and
// shrink it.
func shrink(t rapid.TB, seed int, prop func(*rapid.T)) {
	t.Helper()
	pinning.Lock()
	defer pinning.Unlock()
	defer pin("rapid.nofailfile", "true")() // the schedule says it all
	defer pin("rapid.seed", strconv.Itoa(seed))()
	rapid.Check(t, prop)
}

// pin sets a flag and returns the function that sets it back.
func pin(name, value string) func() {
	f := flag.Lookup(name)
	was := f.Value.String()
	if err := f.Value.Set(value); err != nil {
		panic(err)
	}
	return func() { _ = f.Value.Set(was) }
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
