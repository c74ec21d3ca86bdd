package checkertest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// savedToy writes the counterexample of the broken toy as a bundle, with edits.
func savedToy(t *testing.T, edit ...string) string {
	t.Helper()
	sc := toyScenario(false, scenarios.Broken)
	r, err := checker.Check(context.Background(), &sc, scenarios.MutualExclusion, checker.Options{Workers: 1})
	require.NoError(t, err)
	text, err := report.Bundle(&r)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "race.txtar")
	require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer(edit...).Replace(string(text))), 0o600))
	return file
}

func replayedBundle(file string, list ...scenarios.Scenario) *capture {
	return captured("TestX", func(t *capture) { replayFile(t, file, list) })
}

// slower is a scenario whose processes look once more before everything else.
func slower(sc scenarios.Scenario) scenarios.Scenario {
	program := sc.Program
	sc.Program = func(process, task int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Stat("/elsewhere")
			program(process, task)(t)
		}
	}
	return sc
}

const guard = "-- verdict --\nbroken\n"

func guarded() []string { return []string{guard, guard + "-- expect --\nnot broken\n"} }

func TestReplayOfABugThatIsThere(t *testing.T) {
	got := replayedBundle(savedToy(t), toyScenario(false, scenarios.Broken))
	require.False(t, got.failed, got.log.String())
	require.Contains(t, got.log.String(), "broken, as recorded")
}

// A bundle carries how far the clock jumps: the list's scenario says less.
func TestReplayOfAStall(t *testing.T) {
	for _, sc := range toys.All() {
		if sc.ID != "toy/lease/stall" {
			continue
		}
		r, err := checker.Check(context.Background(), &sc, scenarios.MutualExclusion, checker.Options{Workers: 1})
		require.NoError(t, err)
		text, err := report.Bundle(&r)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "race.txtar")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		sc.Setting.StallFor = time.Second
		got := replayedBundle(file, sc)
		require.False(t, got.failed, got.log.String())
		require.Contains(t, got.log.String(), "broken, as recorded")
		return
	}
	require.Fail(t, "no such toy")
}

func TestReplayOfABugThatIsGone(t *testing.T) {
	got := replayedBundle(savedToy(t), toyScenario(true, scenarios.Holds))
	require.True(t, got.failed)
	for _, want := range []string{"THE BUG IS GONE: no schedule of 2 processes breaks mutual-exclusion of toy/lock/contend.", "-- expect --\nnot broken", "LOCKPICK_UPDATE=1", "- 1 A stat /lock -> ENOENT"} {
		require.Contains(t, got.log.String(), want)
	}
	require.NotContains(t, got.log.String(), "DRIFT")
}

func TestReplayOfAFixThatHolds(t *testing.T) {
	file := savedToy(t, guarded()...)
	fixed := toyScenario(true, scenarios.Holds)
	// The fixed lock makes other calls than the broken one did.
	got := replayedBundle(file, fixed)
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "DRIFT: mutual-exclusion of toy/lock/contend is not broken under this schedule")

	t.Setenv(UpdateVar, "1")
	require.False(t, replayedBundle(file, fixed).failed)
	t.Setenv(UpdateVar, "")
	got = replayedBundle(file, fixed)
	require.False(t, got.failed, got.log.String())
	require.Contains(t, got.log.String(), "not broken, as recorded")

	b, err := readBundle(file)
	require.NoError(t, err)
	require.Equal(t, checker.Holds, b.Verdict)
	require.False(t, b.expectBroken)

	// The same file finds the bug when it returns.
	got = replayedBundle(file, toyScenario(false, scenarios.Broken))
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "THE BUG IS BACK: this schedule breaks it again\n\ntoy/lock/contend  BROKEN")
	require.Contains(t, got.log.String(), "A and B both hold the lock")
	require.NotContains(t, got.log.String(), "DRIFT")
}

func TestReplayOfAnotherProtocolDrifts(t *testing.T) {
	// One more call: the schedule leads elsewhere, but to no other verdict.
	fixed := toyScenario(true, scenarios.Holds)
	file := savedToy(t, guarded()...)
	t.Setenv(UpdateVar, "1")
	require.False(t, replayedBundle(file, fixed).failed)
	t.Setenv(UpdateVar, "")
	got := replayedBundle(file, slower(fixed))
	require.True(t, got.failed)
	for _, want := range []string{"DRIFT", "+ 1 A stat /elsewhere -> ENOENT", "LOCKPICK_UPDATE=1"} {
		require.Contains(t, got.log.String(), want)
	}
	require.NotContains(t, got.log.String(), "THE BUG")

	// Also what is still broken drifts.
	file = savedToy(t, " A1 B3", " A1 B3", "stat /lock", "stat /other")
	got = replayedBundle(file, toyScenario(false, scenarios.Broken))
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "DRIFT: mutual-exclusion of toy/lock/contend is broken")
	require.Contains(t, got.log.String(), "- 1 A stat /other -> ENOENT\n")
	t.Setenv(UpdateVar, "1")
	require.False(t, replayedBundle(file, toyScenario(false, scenarios.Broken)).failed)
	t.Setenv(UpdateVar, "")
	require.False(t, replayedBundle(file, toyScenario(false, scenarios.Broken)).failed)
}

// The bug is there, and the protocol makes one harmless call more: the saved schedule,
// taken by its letters, leads past it. It is aligned by its calls.
func TestReplayOfAShiftedSchedule(t *testing.T) {
	broken := toyScenario(false, scenarios.Broken)
	for name, file := range map[string]string{
		"calls on record": savedToy(t),
	} {
		got := replayedBundle(file, slower(broken))
		require.True(t, got.failed, name)
		require.NotContains(t, got.log.String(), "THE BUG IS GONE", name)
		for _, want := range []string{
			"DRIFT: mutual-exclusion of toy/lock/contend is broken under this schedule",
			"Aligned by its calls, the schedule is now A2 B4 A2.", "+ 1 A stat /elsewhere -> ENOENT", "LOCKPICK_UPDATE=1",
		} {
			require.Contains(t, got.log.String(), want, name)
		}
		t.Setenv(UpdateVar, "1")
		require.False(t, replayedBundle(file, slower(broken)).failed, name)
		t.Setenv(UpdateVar, "")
		got = replayedBundle(file, slower(broken))
		require.False(t, got.failed, got.log.String())
		b, err := readBundle(file)
		require.NoError(t, err)
		require.Equal(t, "A2 B4 A2", b.Schedule.String())
		require.Equal(t, []string{"A stat /elsewhere", "A stat /lock"}, b.Calls[:2])

		// And back: one call less.
		got = replayedBundle(file, broken)
		require.True(t, got.failed, name)
		require.Contains(t, got.log.String(), "Aligned by its calls, the schedule is now A1 B3 A2.", name)
	}
}

// A guard keeps the calls that broke what was there before the fix, and finds the bug also
// when it returns with a call more.
func TestGuardFindsAShiftedBug(t *testing.T) {
	file := savedToy(t, guarded()...)
	t.Setenv(UpdateVar, "1")
	require.False(t, replayedBundle(file, toyScenario(true, scenarios.Holds)).failed)
	t.Setenv(UpdateVar, "")
	require.False(t, replayedBundle(file, toyScenario(true, scenarios.Holds)).failed)
	got := replayedBundle(file, slower(toyScenario(false, scenarios.Broken)))
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "THE BUG IS BACK: this schedule, aligned by its calls, breaks it again")
}

// paranoid looks a second time just before it writes: the saved schedule cannot break it,
// another one can.
func paranoid() scenarios.Scenario {
	sc := toyScenario(false, scenarios.Broken)
	lock := scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for range 2 {
				if _, err := t.Stat(toyLock); err == nil {
					return scenarios.Hold{}, scenarios.ErrLocked
				}
			}
			f, err := t.OpenFile(toyLock, os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{}, f.Close()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(toyLock) },
	}
	sc.Program = func(int, int) scenarios.Program { return scenarios.Once(lock) }
	return sc
}

// Before a bug is called gone the scenario is checked, and so before a bundle becomes the
// guard of a fix.
func TestReplayOfABugThatIsElsewhere(t *testing.T) {
	file := savedToy(t)
	got := replayedBundle(file, paranoid())
	require.True(t, got.failed)
	for _, want := range []string{
		"THE BUG IS STILL THERE: the saved schedule A1 B3 A2 does not show it any more, but mutual-exclusion of toy/lock/contend is broken by another one",
		"no smaller one exists · hit by", "  1 A stat /lock -> ENOENT", "LOCKPICK_UPDATE=1",
	} {
		require.Contains(t, got.log.String(), want)
	}
	require.NotContains(t, got.log.String(), "GONE")

	guard := savedToy(t, guarded()...)
	t.Setenv(UpdateVar, "1")
	got = replayedBundle(guard, paranoid())
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "THE BUG IS STILL THERE")
	require.Contains(t, got.log.String(), "so the bundle cannot guard a fix")

	require.False(t, replayedBundle(file, paranoid()).failed)
	t.Setenv(UpdateVar, "")
	got = replayedBundle(file, paranoid())
	require.False(t, got.failed, got.log.String())
	require.Contains(t, got.log.String(), "broken, as recorded")
}

// A schedule that is too long for the changed protocol is followed as far as it goes.
func TestReplayIsLenient(t *testing.T) {
	file := savedToy(t, append(guarded(), "A1 B3 A2", "A1 B4 B2 A9", "-- calls --", "-- other --")...)
	got := replayedBundle(file, toyScenario(true, scenarios.Holds))
	require.True(t, got.failed)
	require.Contains(t, got.log.String(), "cannot be followed to the letter any more")
	require.Contains(t, got.log.String(), "DRIFT")
}

func TestReplayErrors(t *testing.T) {
	sc := toyScenario(false, scenarios.Broken)
	for _, c := range []struct{ file, want string }{
		{"no/such.txtar", "no such file"},
		{savedToy(t, "lockpick bundle", "other bundle"), "no bundle"},
		{savedToy(t, "toy/lock/contend", "toy/key/contend"), "toy/key/contend, which is not among the 1 scenarios given"},
		{savedToy(t, guard, guard+"-- expect --\nmaybe\n"), `the bundle expects "maybe"`},
		{savedToy(t, "processes 2", "processes 99"), "processes 99: choose 1 to 26"},
		{savedToy(t, "A1 B3 A2", "A1 Z3", "-- calls --", "-- other --"), "names task Z"},
		{savedToy(t, "A1 B3 A2", "A1 B3"), "want a line for each of the 4 choices of the schedule, not 6"},
	} {
		got := replayedBundle(c.file, sc)
		require.True(t, got.failed)
		require.Contains(t, got.log.String(), c.want)
	}
}

func TestReplayOfAFolder(t *testing.T) {
	file := savedToy(t)
	Replay(t, filepath.Join(filepath.Dir(file), "*.txtar"), toyScenario(false, scenarios.Broken))
}

func TestDiff(t *testing.T) {
	lines := func(s string) []string { return strings.Fields(s) }
	require.Empty(t, diff(lines("a b c"), lines("a b c")))
	require.Equal(t, "  a\n- b\n+ x\n  c", diff(lines("a b c"), lines("a x c")))
	require.Equal(t, "  c\n  d\n  e\n+ f", diff(lines("a b c d e"), lines("a b c d e f")))
	require.Equal(t, "- a\n  b\n  c\n  d", diff(lines("a b c d e f g"), lines("b c d e f g")))
	require.Equal(t, "+ a", diff(nil, lines("a")))
}
