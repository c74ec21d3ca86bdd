package checkertest

import (
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
	return func(t *rapid.T) {
		drawn := sched.RunToCompletion{Preemptions: schedules.Draw(t, "schedule")}
		got, err := runner.Run(drawn, false)
		if err != nil {
			t.Fatalf("%s", fromHere(err.Error()))
		}
		if got.Broken {
			fail(t, sc, p, found{runner, sc, p, got.Schedule, t.Name()})
		}
	}
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
