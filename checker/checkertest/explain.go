package checkertest

import (
	"fmt"
	"strings"

	"lockpick/checker"
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
	property scenarios.Property
	schedule sched.Schedule
	test     string
}

func (e evidence) String() string {
	small, err := e.runner.Shrink(e.schedule)
	if err != nil {
		return err.Error()
	}
	ran, err := e.runner.Run(sched.Replay{Schedule: small}, true)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s is broken: %d processes, %s\n", e.sc.ID, e.property, e.sc.Setting.Contenders(), costText(ran.Cost))
	writeTrace(&b, ran.Trace)
	for _, w := range ran.Waits {
		fmt.Fprintf(&b, "      %s\n", w)
	}
	fmt.Fprintf(&b, "schedule  %s\nreplay    %s", small, replayCommand(small, e.test))
	return b.String()
}

// writeTrace writes one line for each call, in the order of steps.
func writeTrace(b *strings.Builder, tr checker.Trace) {
	for _, s := range tr {
		who := s.Choice.Task.String()
		switch s.Choice.Action {
		case sched.Stall:
			fmt.Fprintf(b, "%4d  %-4s the clock jumps\n", s.N, "~")
		case sched.Kill:
			fmt.Fprintf(b, "%4d  %-4s is killed\n", s.N, who)
		}
		mark := ""
		if s.Preempts {
			mark = "   <- preempts"
		}
		for _, c := range s.Calls {
			fmt.Fprintf(b, "%4d  %-4s %s %s%s\n", s.N, who, c.Op, c.Result.Describe(c.Op), mark)
			mark = ""
		}
		if len(s.Holders) > 1 {
			fmt.Fprintf(b, "      %v hold the lock\n", s.Holders)
		}
	}
}

func costText(c checker.Cost) string {
	return fmt.Sprintf("%d crashes, %d stalls, %d preemptions, %d steps", c.Crashes, c.Stalls, c.Preemptions, c.Steps)
}

// replayCommand is the command that replays s in a test of the given name.
func replayCommand(s sched.Schedule, test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return fmt.Sprintf("%s='%s' go test -run '%s' .", ScheduleVar, s, strings.Join(parts, "/"))
}
