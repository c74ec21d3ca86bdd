package checkertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/checker/internal/saved"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/scenarios"
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
// A schedule that a changed protocol cannot follow to the letter is aligned by the calls
// that the bundle has for each step, and else followed as far as it goes: choices that are
// impossible are left out, and at its end everybody runs on. The bundle of a fix keeps the
// schedule and the calls that broke what was there before it, and so finds the bug when it
// returns.
//
// A failure says which it is:
//
//   - DRIFT: the verdict is the one on record, the steps are others, shown as the
//     difference between the two traces.
//   - THE BUG IS BACK: the schedule of a guard breaks the property.
//   - THE BUG IS STILL THERE: the schedule of a bug breaks nothing any more, but the
//     scenario, checked over all its schedules, is broken by another one.
//   - THE BUG IS GONE: neither does, and no other schedule.
//   - THE SCHEDULE BREAKS NOTHING: whether another one does is not known, because a
//     budget ended first.
//
// LOCKPICK_UPDATE=1 writes a bundle anew that has drifted, or whose bug has another
// schedule now. It never turns broken into not broken, nor the other way, and makes no
// guard while the scenario is broken.
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
	got, err := saved.Follow(sc, p, saved.Recipe{Schedule: b.Schedule, Calls: b.Calls})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	difference := diff(strings.Split(b.Trace, "\n"), traceLines(got.Counterexample.Trace))
	update := os.Getenv(UpdateVar) != ""
	switch {
	case got.Broken && !b.expectBroken:
		r := checker.NewResult(sc, p, got.Counterexample)
		t.Fatalf("%s: THE BUG IS BACK: %s\n\n%s\n\nschedule  "+
			"%s", file, howFollowed(&got), evidence(&r), r.Counterexample.Schedule)
	case !got.Broken && b.expectBroken:
		lost(t, file, b, sc, p, &got, difference)
	case difference == "":
		t.Logf("%s: %s, as recorded", file, expectText(b.expectBroken))
		if got.Unasked != "" {
			t.Logf("%s: %s", file, got.Unasked)
		}
	case !update:
		t.Fatalf("%s: DRIFT: %s of %s is %s under this schedule, as recorded, but the steps are others.%s\n"+
			"Look at the difference (- recorded, + now), and if it is meant, run this test with %s=1.\n%s",
			file, b.Property, sc.ID, expectText(b.expectBroken), b.whatElse(&got), UpdateVar, difference)
	default:
		written := checker.NewResult(sc, p, got.Counterexample)
		if !got.Broken {
			written = checked(t, file, b, sc, p, "so the bundle cannot guard a fix")
			written.Counterexample = got.Counterexample
		}
		write(t, file, b, &written)
	}
}

// lost fails a test whose bundle does not show its bug any more, and says whether the bug
// is gone: that is a question about all schedules.
func lost(t rapid.TB, file string, b *bundle, sc *scenarios.Scenario, p *scenarios.Property, got *saved.Followed, difference string) {
	t.Helper()
	r, err := checker.Check(context.Background(), sc, p, checker.Options{})
	if err != nil {
		t.Fatalf("%s: the schedule %s breaks nothing any more, and neither does it say anything: "+
			"%v", file, b.Schedule, err)
	}
	switch r.Verdict {
	case checker.Broken:
		if os.Getenv(UpdateVar) != "" {
			write(t, file, b, &r)
			return
		}
		t.Fatalf("%s: THE BUG IS STILL THERE: the saved schedule %s does not show it any more, but %s of %s is "+
			"broken by another one.%s\nRun this test with %s=1 to keep that one instead.\n\n%s\n\n%s",
			file, b.Schedule, b.Property, sc.ID, b.whatElse(got), UpdateVar, evidence(&r), difference)
	case checker.Holds:
		t.Fatalf("%s: THE BUG IS GONE: no schedule of %s breaks %s of %s.%s\n"+
			"If it has been fixed, keep the bundle as its guard: give it a part\n\n-- expect --\nnot broken\n\nand "+
			"run this test with %s=1.\n%s",
			file, sc.Setting, b.Property, sc.ID, b.whatElse(got), UpdateVar, difference)
	default:
		t.Fatalf("%s: THE SCHEDULE BREAKS NOTHING any more, and whether another one breaks %s of %s is not known: "+
			"%s.%s\n%s",
			file, b.Property, sc.ID, r.Why, b.whatElse(got), difference)
	}
}

// checked is the verdict on the bundle's scenario. The test fails when it is broken.
func checked(t rapid.TB, file string, b *bundle, sc *scenarios.Scenario, p *scenarios.Property, so string) checker.Result {
	t.Helper()
	r, err := checker.Check(context.Background(), sc, p, checker.Options{})
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if r.Verdict == checker.Broken {
		t.Fatalf("%s: THE BUG IS STILL THERE: the saved schedule %s does not show it, but %s of %s is broken by "+
			"another one, %s.\n\n%s",
			file, b.Schedule, b.Property, sc.ID, so, evidence(&r))
	}
	return r
}

// write writes a bundle anew.
func write(t rapid.TB, file string, b *bundle, r *checker.Result) {
	t.Helper()
	if err := b.rewrite(file, r); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	t.Logf("%s: written anew", file)
}

func expectText(broken bool) string {
	if broken {
		return "broken"
	}
	return "not broken"
}

func howFollowed(f *saved.Followed) string {
	switch {
	case f.Aligned:
		return "this schedule, aligned by its calls, breaks it again"
	case f.Left == nil:
		return "this schedule breaks it again"
	}
	return "this schedule, which could not be followed to the letter, leads to it again"
}

// whatElse says how a schedule was followed, and what else is no longer as it was saved.
func (b *bundle) whatElse(f *saved.Followed) string {
	var text string
	if f.Aligned {
		text = "\nAligned by its calls, the schedule is now " + f.Counterexample.Schedule.String() + "."
	} else if f.Left != nil {
		text = "\nThe schedule cannot be followed to the letter any more: " + f.Left.Error()
	}
	for _, c := range b.changed {
		text += fmt.Sprintf("\nSince the bundle was saved the scenario's setting has changed: %s.", c)
	}
	return text
}

func traceLines(tr trace.Trace) []string {
	return strings.Split(strings.TrimSpace(report.TraceText(tr)), "\n")
}

// diff shows how two texts differ, from the first line that does to the last: what was there with a minus, and what is
// there now with a plus, between up to three lines that both have, with a blank. Equal texts give "". Lines of a trace
// begin with their step, so behind a step more all differ anyway.
func diff(was, now []string) string {
	from, same := 0, 0
	for from < min(len(was), len(now)) && was[from] == now[from] {
		from++
	}
	for same < min(len(was), len(now))-from && was[len(was)-1-same] == now[len(now)-1-same] {
		same++
	}
	removed, added := was[from:len(was)-same], now[from:len(now)-same]
	if len(removed)+len(added) == 0 {
		return ""
	}
	var lines []string
	add := func(sign string, of []string) {
		for _, l := range of {
			lines = append(lines, sign+l)
		}
	}
	add("  ", was[max(0, from-3):from])
	add("- ", removed)
	add("+ ", added)
	add("  ", was[len(was)-same:][:min(same, 3)])
	return strings.Join(lines, "\n")
}
