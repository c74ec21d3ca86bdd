package checkertest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// UpdateVar is the environment variable that makes [Replay] write drifted bundles anew.
const UpdateVar = "LOCKPICK_UPDATE"

// Replay makes regression tests of the bundles that match a pattern, such as
// "testdata/*.txtar", each a subtest named like its file. A bundle is what
// "lockpick explain --save FILE" writes; list has the scenarios that they name.
//
// A bundle says in its part "expect" what its schedule must come to. Without that part
// it is what the part "verdict" says: broken when that is broken, and else not broken.
//
//   - "broken": the schedule still breaks the property, in exactly these steps. The
//     bundle documents a bug that is there.
//   - "not broken": the schedule breaks nothing, in exactly these steps. The bundle
//     guards a fix. To make one of a saved counterexample, once it is fixed, add the
//     part and run the test with LOCKPICK_UPDATE=1.
//
// It fails in three ways, and says which: the bug is back, or the bug is gone, or
// neither, but the protocol now does other things under this schedule, which is a
// drift, shown as the difference between the two traces. LOCKPICK_UPDATE=1 writes a
// drifted bundle anew; it never turns broken into not broken, nor the other way.
//
// A schedule that a changed protocol cannot follow to the letter is followed as far as
// it goes: choices that are impossible are left out, and at its end everybody runs on.
// The bundle of a fix keeps the schedule that broke what was there before it, and so
// finds the bug when it returns.
func Replay(t *testing.T, pattern string, list ...scenarios.Scenario) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	if len(files) == 0 {
		t.Fatalf("%s: no file matches, so nothing is tested", pattern)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), filepath.Ext(f)), func(t *testing.T) { replayFile(t, f, list) })
	}
}

// replayFile replays one bundle.
func replayFile(t rapid.TB, file string, list []scenarios.Scenario) {
	t.Helper()
	b, err := readBundle(file)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	sc, err := b.scenario(list)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p, err := scenarios.FindProperty(b.Property, list...)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	got, left, err := follow(sc, p, b.Schedule)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	difference := diff(strings.Split(b.Trace, "\n"), traceLines(got.Counterexample.Trace))
	switch {
	case got.Broken && !b.expectBroken:
		t.Fatalf("%s: THE BUG IS BACK: %s\n%s\n%s", file, howFollowed(left), timelineOf(sc, p, &got),
			"schedule  "+got.Counterexample.Schedule.String())
	case !got.Broken && b.expectBroken:
		t.Fatalf("%s: THE BUG IS GONE: the schedule %s does not break %s of %s any more.%s\n"+
			"If it has been fixed, keep the bundle as its guard: give it a part\n\n-- expect --\nnot broken\n\nand run this test with %s=1.\n%s",
			file, b.Schedule, b.Property, sc.ID, leftText(left), UpdateVar, difference)
	case difference == "":
		t.Logf("%s: %s, as recorded", file, expectText(b.expectBroken))
	case os.Getenv(UpdateVar) != "":
		if err := b.rewrite(file, sc, &got); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		t.Logf("%s: written anew", file)
	default:
		t.Fatalf("%s: DRIFT: %s of %s is %s under this schedule, as recorded, but the steps are others.%s\n"+
			"Look at the difference (- recorded, + now), and if it is meant, run this test with %s=1.\n%s",
			file, b.Property, sc.ID, expectText(b.expectBroken), leftText(left), UpdateVar, difference)
	}
}

func expectText(broken bool) string {
	if broken {
		return "broken"
	}
	return "not broken"
}

func howFollowed(left *sched.DriftError) string {
	if left == nil {
		return "this schedule breaks it again"
	}
	return "this schedule, which could not be followed to the letter, leads to it again"
}

func leftText(left *sched.DriftError) string {
	if left == nil {
		return ""
	}
	return "\nThe schedule cannot be followed to the letter any more: " + left.Error()
}

// follow follows a schedule strictly, or else as far as it goes; then left says where
// it was left.
func follow(sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule) (got checker.Replayed, left *sched.DriftError, err error) {
	got, err = checker.Replay(sc, p, s)
	if !errors.As(err, &left) {
		return got, nil, err
	}
	if p.OfCycles() { // judged by the cycle that a schedule ends with
		return got, left, nil
	}
	runner, err := checker.NewRunner(sc, p)
	if err != nil {
		return got, left, err
	}
	ran, err := runner.Run(&leniently{schedule: s}, false)
	if err != nil {
		return got, left, err
	}
	got, err = checker.Replay(sc, p, ran.Schedule)
	return got, left, err
}

// leniently follows a schedule without the choices that are impossible, and then lets
// everybody run to the end.
type leniently struct {
	schedule sched.Schedule
	at       int
	rest     sched.RunToCompletion
}

// Next implements sched.Strategy.
func (l *leniently) Next(v *sched.View) (sched.Choice, error) {
	for l.at < len(l.schedule) {
		c := l.schedule[l.at]
		l.at++
		asked := make(sched.Schedule, v.Step+1)
		asked[v.Step] = c
		if got, err := (sched.Replay{Schedule: asked}).Next(v); err == nil {
			return got, nil
		}
	}
	return l.rest.Next(v)
}

func traceLines(tr trace.Trace) []string {
	return strings.Split(strings.TrimSpace(report.TraceText(tr)), "\n")
}
