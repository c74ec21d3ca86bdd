package checkertest

import (
	"fmt"
	"os"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/sched"
)

// explained says how a result came to be broken, as the command explain does: what
// happened step by step, the cause, and at the end the schedule and the command that
// replays it in this test.
func explained(r *checker.Result, test string) string {
	s := r.Counterexample.Schedule
	return fmt.Sprintf("\n%s\n\nschedule  %s\nreplay    %s", evidence(r), s, replayCommand(s, test))
}

// evidence draws a result, with the places in the source relative to the directory of the
// test, where editors look for them.
func evidence(r *checker.Result) string {
	o := report.Options{Places: true}
	if dir, err := os.Getwd(); err == nil {
		o.Root = dir
	}
	return report.Evidence(r, o)
}

// found is a drawn schedule that breaks a property, explained when it is printed: rapid prints
// the last of very many. It is first made smaller in the checker's own way, which knows
// what a switch is; rapid, which shrinks lists and numbers, gets close but not always
// there.
type found struct {
	runner   *checker.Runner
	sc       *scenarios.Scenario
	property *scenarios.Property
	schedule sched.Schedule
	test     string
}

func (d found) String() string {
	small, err := d.runner.Shrink(d.schedule)
	if err != nil {
		return err.Error()
	}
	got, err := checker.Replay(d.sc, d.property, small)
	if err != nil {
		return err.Error()
	}
	r := checker.NewResult(d.sc, d.property, got.Counterexample)
	return explained(&r, d.test)
}

// replayCommand is the command that replays s in a test of the given name.
func replayCommand(s sched.Schedule, test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return fmt.Sprintf("%s='%s' go test -run '%s' .", ScheduleVar, s, strings.Join(parts, "/"))
}
