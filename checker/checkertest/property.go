package checkertest

import (
	"strconv"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Property returns "no schedule of sc breaks p" as a property for rapid.Check. Each
// check draws one schedule, runs it and judges it. Whether the schedules showed anything
// that could have been wrong is not asked: [Rapid] asks.
func Property(sc *scenarios.Scenario, p *scenarios.Property) func(*rapid.T) {
	runner, err := checker.NewRunner(sc, p)
	if err != nil {
		return func(t *rapid.T) { t.Fatalf("%v", err) }
	}
	return propertyOf(runner, sc, p)
}

func propertyOf(runner *checker.Runner, sc *scenarios.Scenario, p *scenarios.Property) func(*rapid.T) {
	schedules := Schedules(sc)
	seen := ran{}
	return func(t *rapid.T) {
		drawn := schedules.Draw(t, "schedule")
		got, err := seen.run(runner, drawn)
		if err != nil {
			t.Fatalf("%s", fromHere(err.Error()))
		}
		if got.Broken {
			fail(t, sc, p, found{runner, sc, p, got.Schedule, t.Name()})
		}
	}
}

// ran remembers what schedules came to. While it shrinks, rapid draws most of them again and
// again from other bits: some forty times each.
type ran map[string]checker.Ran

// manyRan bounds what is remembered.
const manyRan = 10_000

// run runs the program under preemptions, unless that was done.
func (r ran) run(runner *checker.Runner, drawn []sched.Preemption) (checker.Ran, error) {
	var key []byte
	for _, p := range drawn {
		for _, n := range []int{p.Step, int(p.Choice.Action), p.Choice.Task.Process, p.Choice.Task.N, p.Choice.State, p.Choice.Which} {
			key = append(strconv.AppendInt(key, int64(n), 10), ' ')
		}
		key = append(append(key, p.Choice.Fails...), ' ')
	}
	if got, ok := r[string(key)]; ok {
		return got, nil
	}
	got, err := runner.Run(sched.RunToCompletion{Preemptions: drawn}, false)
	if err == nil {
		if len(r) == manyRan {
			clear(r)
		}
		r[string(key)] = got
	}
	return got, err
}

// fail fails a property, and logs the evidence.
//
// Rapid takes two failures for the same bug when they come from the same line: this one
// is for broken properties only, or a broken lock may shrink into a faulty scenario.
func fail(t rapid.TB, sc *scenarios.Scenario, p *scenarios.Property, evidence any) {
	t.Helper()
	t.Logf("%v", evidence)
	t.Fatalf("%s: %s is broken", sc.ID, p)
}
