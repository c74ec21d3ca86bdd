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
	r := checker.NewResult(e.sc, e.property, got.Counterexample)
	return fmt.Sprintf("\n%s\n\nschedule  %s\nreplay    %s", report.Evidence(&r, report.Options{}), small, replayCommand(small, e.test))
}

// replayCommand is the command that replays s in a test of the given name.
func replayCommand(s sched.Schedule, test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return fmt.Sprintf("%s='%s' go test -run '%s' .", ScheduleVar, s, strings.Join(parts, "/"))
}
