package checkertest

import (
	"context"
	"os"
	"testing"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// ScheduleVar is the environment variable with the schedule that [Run] and [Rapid]
// replay instead of searching.
const ScheduleVar = "LOCKPICK_SCHEDULE"

// Run checks every property that sc claims something of, over all schedules, each as a
// subtest named like the property. A subtest fails when the verdict is not the one
// claimed, with the counterexample if there is one.
func Run(t *testing.T, sc scenarios.Scenario) {
	t.Helper()
	for _, c := range sc.Claims {
		t.Run(c.Property.ID, func(t *testing.T) { check(t, &sc, c) })
	}
}

func check(t rapid.TB, sc *scenarios.Scenario, c scenarios.Claim) {
	t.Helper()
	if replayed(t, sc, c.Property) {
		return
	}
	res, err := checker.Check(context.Background(), sc, c.Property, checker.Options{})
	switch {
	case err != nil:
		t.Fatalf("%v", err)
	case res.Verdict == c.Verdict:
		t.Logf("%s: %s: %s", sc.ID, c.Property, res.Verdict)
	case res.Verdict == checker.Broken:
		fail(t, sc, c.Property, explained(&res, t.Name()))
	default:
		t.Fatalf("%s: %s: the verdict is %s, the scenario claims %s. %s", sc.ID, c.Property, res.Verdict, c.Verdict, res.Why)
	}
}

// replayed replays the schedule in the environment, if there is one: the test fails
// when it breaks p.
func replayed(t rapid.TB, sc *scenarios.Scenario, p *scenarios.Property) bool {
	t.Helper()
	text := os.Getenv(ScheduleVar)
	if text == "" {
		return false
	}
	s, err := sched.ParseSchedule(text)
	if err != nil {
		t.Fatalf("%s: %v", ScheduleVar, err)
	}
	ran, err := checker.Replay(sc, p, s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !ran.Broken {
		t.Logf("%s: %s: schedule %s does not break it", sc.ID, p, s)
		return true
	}
	r := checker.NewResult(sc, p, ran.Counterexample)
	fail(t, sc, p, explained(&r, t.Name()))
	return true
}
