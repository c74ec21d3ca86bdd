package checkertest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/internal/watchdog"
	"lockpick/scenarios"
)

// Survey tries a lock under every hazard of [scenarios.Survey], each as a subtest named like the hazard. A subtest
// fails when something is broken, with the counterexample, unless its cause is of a kind in accept, such as "LP1020"
// (docs/causes.md); and when something is unknown. It is skipped, with the reason, where the hazard asks nothing of
// such a lock.
//
// Each answer may take [checker.SurveyStates] states, and a hundred thousand under -short: what needs more is skipped
// then. A survey that would not end before the test binary's -timeout ends shortly before it.
func Survey(t *testing.T, s scenarios.Subject, accept ...string) {
	t.Helper()
	studies, err := scenarios.Survey(s)
	if err == nil {
		err = checker.Acceptable(accept)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	o := checker.Options{SkipOdds: true, Accept: accept}
	if testing.Short() {
		o.States = shortStates
	}
	for _, study := range studies {
		t.Run(study.Hazard.ID, func(t *testing.T) {
			t.Helper()
			ctx, stop := beforeDeadline(t, s.ID)
			defer stop()
			surveyed(ctx, t, study, o)
		})
	}
}

func surveyed(ctx context.Context, t rapid.TB, study scenarios.Study, o checker.Options) {
	t.Helper()
	line, err := watchdog.Over(func(w scenarios.Watchdog) (checker.Surveyed, error) {
		for i := range study.Scenarios {
			study.Scenarios[i].Watchdog = w
		}
		return checker.Survey(ctx, study, o), nil
	})
	if err != nil {
		t.Fatalf("%s", fromHere(err.Error()))
	}
	for i := range line.Broken {
		r := &line.Broken[i]
		if r.Accepted != "" {
			t.Logf("%s: %s", r.Scenario.ID, r.AcceptedText())
			continue
		}
		t.Errorf("\n%s\n\nschedule  %s", evidence(r), r.Counterexample.Schedule)
	}
	for i := range line.Holds {
		tellConditions(t, os.Stderr, testing.Verbose(), &line.Holds[i])
	}
	unknown := ""
	if len(line.Unknown) > 0 {
		r := &line.Unknown[0]
		unknown = fmt.Sprintf("%s: %s is unknown: %s", r.Scenario.ID, r.Property, r.Why)
	}
	switch {
	case line.NotAsked == checker.Stopped:
		t.Fatalf("%s. Give the test more (-timeout).", line.NotAsked)
	case line.NotAsked != "":
		t.Skipf("not asked: %s", line.NotAsked)
	case unknown == "" || line.Failed():
	case testing.Short():
		t.Skipf("too large for -short: %s", unknown)
	default:
		t.Fatalf("%s", unknown)
	}
}
