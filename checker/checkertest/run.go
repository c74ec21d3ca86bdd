package checkertest

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/internal/watchdog"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/sched"
)

// ScheduleVar is the environment variable with the schedule that [Run] and [Rapid]
// replay instead of searching.
const ScheduleVar = "LOCKPICK_SCHEDULE"

// shortStates bounds the states of each verdict under -short.
const shortStates = 100_000

// spare is how long before the deadline of the test binary a check ends, so that it can
// say how far it came.
const spare = 2 * time.Second

// Run checks every property that sc claims something of, over all schedules, each as a
// subtest named like the property. A subtest fails when the verdict is not the one
// claimed, with the counterexample if there is one.
//
// Under -short a space of more than 100 000 states is left out: its subtest is skipped, and
// says so. A check that would not end before the test binary's -timeout ends shortly before
// it, and the subtest fails with how far it came.
func Run(t *testing.T, sc scenarios.Scenario) {
	t.Helper()
	if err := sc.Validate(); err != nil {
		t.Fatalf("%v", err)
	}
	var tried checker.Tried
	for _, c := range sc.Claims {
		t.Run(c.Property.ID, func(t *testing.T) {
			t.Helper()
			ctx, stop := beforeDeadline(t, sc.ID)
			defer stop()
			check(ctx, t, &sc, c, &tried)
		})
	}
}

// beforeDeadline returns a context that ends shortly before the test binary does, for what is asked of id.
func beforeDeadline(t *testing.T, id string) (ctx context.Context, stop func()) {
	d, ok := t.Deadline()
	if !ok {
		return t.Context(), func() {}
	}
	ctx, cancel := context.WithDeadline(t.Context(), d.Add(-spare))
	off := watch(os.Stderr, d.Add(-spare/2), t.Name(), id)
	return ctx, func() {
		off()
		cancel()
	}
}

func check(ctx context.Context, t rapid.TB, sc *scenarios.Scenario, c scenarios.Claim, tried *checker.Tried) {
	t.Helper()
	if replayed(t, sc, c.Property) {
		return
	}
	o := checker.Options{Tried: tried}
	if testing.Short() {
		o.States = shortStates
	}
	res, err := watchdog.Over(func(w scenarios.Watchdog) (checker.Result, error) {
		return checker.Check(ctx, watchedBy(w, sc), c.Property, o)
	})
	switch {
	case err != nil:
		t.Fatalf("%s", fromHere(err.Error()))
	case res.AsClaimed():
		t.Logf("%s: %s: %s", sc.ID, c.Property, res.Verdict)
		if but := res.Uncontended(); but != "" {
			t.Logf("%s: %s: but %s: look at the workload", sc.ID, c.Property, but)
		}
		tellConditions(t, os.Stderr, testing.Verbose(), &res)
	case res.Verdict == checker.Broken && res.Claim == checker.Broken:
		t.Fatalf("%s: %s: the scenario claims that it is %s; it is "+
			"%s", sc.ID, c.Property, res.ClaimText(), strings.Join(res.Conditions(), "; "))
	case res.Verdict == checker.Broken:
		fail(t, sc, c.Property, explained(&res, t.Name()))
	case res.Verdict == checker.Unknown && ctx.Err() != nil:
		t.Fatalf("%s: %s: no verdict in time: %s. Give the test more (-timeout), or ask for less: fewer processes, "+
			"crashes or stalls.", sc.ID, c.Property, res.Why)
	case res.Verdict == checker.Unknown && testing.Short():
		t.Skipf("%s: %s: too large for -short: %s", sc.ID, c.Property, res.Why)
	default:
		t.Fatalf("%s: %s: the verdict is %s, the scenario claims %s. "+
			"%s", sc.ID, c.Property, res.Verdict, res.ClaimText(), res.Why)
	}
}

// tellConditions logs what a verdict assumes. Without -v the log of a test that passes is not shown, so it goes to w as
// well: go test shows it for the package in the current directory, and for others where a test fails.
func tellConditions(t rapid.TB, w io.Writer, verbose bool, r *checker.Result) {
	t.Helper()
	few := r.Conditions()
	for _, c := range r.Conditioned() {
		text := fmt.Sprintf("%s: %s: %s", r.Scenario.ID, r.Property, c.Text)
		t.Logf("%s", text)
		if !verbose && slices.Contains(few, c.Text) { // that retry loops go on is assumed of all that poll
			_, _ = fmt.Fprintf(w, "checkertest: %s\n", text)
		}
	}
}

// watchedBy returns a scenario whose programs are watched.
func watchedBy(w scenarios.Watchdog, sc *scenarios.Scenario) *scenarios.Scenario {
	watched := *sc
	watched.Watchdog = w
	return &watched
}

// watch says what to do when a check does not end although its time is up, which it cannot
// when a program runs on without a call. The function that it returns calls it off.
func watch(w io.Writer, at time.Time, test, id string) func() {
	ctx, cancel := context.WithDeadline(context.Background(), at)
	context.AfterFunc(ctx, func() {
		if ctx.Err() == context.DeadlineExceeded {
			_, _ = fmt.Fprintf(w, hangs, test, id)
		}
	})
	return cancel
}

// hangs is told before package testing ends a test binary and dumps its goroutines.
const hangs = `
checkertest: %s: the time is up, and the program of a task of %s runs on without a call: it is
in an endless loop, or waits for a Go lock or a channel. The dump below shows where: look for the
goroutine with sched.Go in it, and in that for the first line of your own. A program waits by
calls only, such as t.Sleep in a loop marked with t.Retry.
`

// fromHere shortens the paths of files below the directory of the test.
func fromHere(text string) string {
	if dir, err := os.Getwd(); err == nil {
		text = strings.ReplaceAll(text, " "+dir+string(os.PathSeparator), " ")
	}
	return text
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
	if sc.More && slices.ContainsFunc(s, func(c sched.Choice) bool { return c.Task.Process > 1 }) {
		if three, err := sc.WithProcesses(3); err == nil {
			sc = &three
		}
	}
	ran, err := checker.Replay(sc, p, s)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if !ran.Broken {
		t.Logf("%s: %s: schedule %s does not break it", sc.ID, p, s)
		if ran.Unasked != "" {
			t.Logf("%s: %s: %s", sc.ID, p, ran.Unasked)
		}
		return true
	}
	r := checker.NewResult(sc, p, ran.Counterexample)
	fail(t, sc, p, explained(&r, t.Name()))
	return true
}

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

// found is a drawn schedule that breaks a property, made smaller and explained when it is printed: rapid, where it is
// in charge, prints the last of very many.
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
