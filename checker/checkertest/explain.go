package checkertest

import (
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/sched"
)

// evidence says how a schedule breaks a property, when it is printed: what happened step
// by step, and at the end the schedule and the command that replays it. The schedule
// is first made smaller in the checker's own way, which knows what a switch is; rapid,
// which shrinks lists and numbers, gets close but not always there.
type evidence struct {
	runner   *checker.Runner
	sc       *scenarios.Scenario
	property *scenarios.Property
	schedule sched.Schedule
	test     string
}

func (e evidence) String() string {
	small := e.schedule
	if !e.property.OfCycles() { // which is a cycle, and not to be cut
		var err error
		if small, err = e.runner.Shrink(small); err != nil {
			return err.Error()
		}
	}
	got, err := checker.Replay(e.sc, e.property, small)
	if err != nil {
		return err.Error()
	}
	text := timelineOf(e.sc, e.property, &got)
	return fmt.Sprintf("%s\n\nschedule  %s\nreplay    %s", text, small, replayCommand(small, e.test))
}

// timelineOf draws a run that breaks a property.
func timelineOf(sc *scenarios.Scenario, p *scenarios.Property, got *checker.Replayed) string {
	r := checker.Result{
		Scenario: sc, Property: p, Judgement: p.Judgement(), Verdict: checker.Broken,
		Odds: -1, Counterexample: got.Counterexample,
	}
	r.Claim, r.Claimed = sc.Claim(p)
	return "\n" + report.Evidence(&r, report.Options{})
}

// replayCommand is the command that replays s in a test of the given name.
func replayCommand(s sched.Schedule, test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return fmt.Sprintf("%s='%s' go test -run '%s' .", ScheduleVar, s, strings.Join(parts, "/"))
}
