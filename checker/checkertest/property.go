package checkertest

import (
	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Property returns "no schedule of sc breaks p" as a property for rapid.Check. Each
// check draws one schedule, runs it and judges it.
func Property(sc *scenarios.Scenario, p scenarios.Property) func(*rapid.T) {
	schedules := Schedules(sc)
	runner, err := checker.NewRunner(sc, p)
	return func(t *rapid.T) {
		if err != nil {
			t.Fatalf("%v", err)
		}
		drawn := schedules.Draw(t, "schedule")
		ran, err := runner.Run(sched.RunToCompletion{Preemptions: drawn}, false)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if ran.Broken {
			fail(t, runner, sc, p, ran.Schedule)
		}
	}
}

// fail fails a property with the evidence. Rapid takes two failures for the same bug
// when they come from the same line, so every class of failure has its own: otherwise a
// broken lock may shrink into a deadlock.
func fail(t rapid.TB, r *checker.Runner, sc *scenarios.Scenario, p scenarios.Property, s sched.Schedule) {
	t.Helper()
	evidence := explain(r, sc, p, s, t.Name())
	switch p {
	case scenarios.MutualExclusion:
		t.Fatalf("%s", evidence)
	case scenarios.LostUpdate:
		t.Fatalf("%s", evidence)
	case scenarios.Duplicate:
		t.Fatalf("%s", evidence)
	case scenarios.ForeignRelease:
		t.Fatalf("%s", evidence)
	case scenarios.TornRead:
		t.Fatalf("%s", evidence)
	case scenarios.OwnerInfo:
		t.Fatalf("%s", evidence)
	case scenarios.SpuriousFailure:
		t.Fatalf("%s", evidence)
	case scenarios.Deadlock:
		t.Fatalf("%s", evidence)
	case scenarios.Wedge:
		t.Fatalf("%s", evidence)
	default:
		t.Fatalf("%s", evidence)
	}
}
