package checkertest

import (
	"fmt"
	"os"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
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

// replayCommand is the command that replays s in a test of the given name.
func replayCommand(s sched.Schedule, test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return fmt.Sprintf("%s='%s' go test -run '%s' .", ScheduleVar, s, strings.Join(parts, "/"))
}
