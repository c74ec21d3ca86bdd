package checker

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/datafile"
	"lockpick/sched"
)

func TestFailingVerdicts(t *testing.T) {
	fixtures.OnlyAnswers(t)
	smallest := map[string]string{
		"toy/excl-pid/full wedge":                   "A1 A/ENOSPC A2 B2",
		"toy/excl-pid-tidy/failing wedge":           "A4 A/EACCES A1", // nothing takes away what cannot be unlinked
		"toy/flock-blindly/signal mutual-exclusion": "A2 B1 B/EINTR",
		"toy/stat/failing mutual-exclusion":         "A1 B4 A3", // no call need fail
		"toy/flock-twice/signal deadlock":           "A3 B4 A1",
	}
	requireSmallest(t, failingToys(), smallest)
}

func TestEnginesAgreeOnFailingCalls(t *testing.T) {
	testmain.Slow(t, "it asks every engine about calls that fail", "./checker")
	t.Parallel()
	enginesAgreeOn(t, failingToys())
}

// A round in which a call failed is not in vain, nor is one in which the task chose otherwise: the next
// may come through. Whoever draws schedules goes on.
func TestRoundsThatMayComeThrough(t *testing.T) {
	gone := func(t *scenarios.Task) { t.Assert(false, "nobody comes through") }
	for name, once := range map[string]func(t *scenarios.Task) bool{
		"a call fails": func(t *scenarios.Task) bool { _, err := t.Stat("/"); return err == nil },
		"a choice":     func(t *scenarios.Task) bool { return t.Choose(2) == 1 },
	} {
		t.Run(name, func(t *testing.T) {
			sc := fixtures.Programs("toy/rounds/some", scenarios.Setting{Processes: 1, FailingCalls: 1, FailWith: []syscall.Errno{fsfake.EIO}}, fixtures.Same(func(t *scenarios.Task) {
				for retry := t.Retry(); retry.Next(); {
					if once(t) {
						gone(t)
						return
					}
				}
			}), scenarios.Claim{Property: scenarios.Assertion, Verdict: scenarios.Broken})
			r, err := Check(context.Background(), sc, scenarios.Assertion, Options{Workers: 1})
			require.NoError(t, err)
			require.Equal(t, Broken, r.Verdict)
			require.InDelta(t, 1, r.Odds, 1e-12)
			s, err := Sample(context.Background(), sc, scenarios.Assertion, SampleOptions{Runs: 100, KeepGoing: true})
			require.NoError(t, err)
			require.Equal(t, 100, s.Failures)
		})
	}
}

// Every choice of a task's own is tried, and drawn.
func TestChoose(t *testing.T) {
	sc := fixtures.Programs("toy/choose/one", scenarios.Setting{Processes: 1}, fixtures.Same(func(t *scenarios.Task) {
		n := t.Choose(3)
		t.Assert(n < 2, "the number is below 2")
	}), scenarios.Claim{Property: scenarios.Assertion, Verdict: scenarios.Broken})
	r, err := Check(context.Background(), sc, scenarios.Assertion, Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	require.Equal(t, "A/3", r.Counterexample.Schedule.String())
	require.InDelta(t, 1.0/3, r.Odds, 1e-12)
	s, err := Sample(context.Background(), sc, scenarios.Assertion, SampleOptions{Runs: 50, KeepGoing: true})
	require.NoError(t, err)
	require.Greater(t, s.Failures, 0)
	require.Less(t, s.Failures, 50)
}

// A schedule in which a call fails that cannot says so.
func TestFailingCallThatCannot(t *testing.T) {
	sc := failingToys()[0]
	for text, why := range map[string]string{
		"A/EIO":             "cannot fail with EIO then",
		"A1 B/ENOSPC":       "cannot fail with ENOSPC then", // it fails with EEXIST
		"A/ENOSPC B/ENOSPC": "cannot fail with ENOSPC then", // no more may
	} {
		_, err := Replay(sc, scenarios.Wedge, fixtures.Parse(t, text))
		var drift *sched.DriftError
		require.ErrorAs(t, err, &drift, text)
		require.Contains(t, err.Error(), why, text)
	}
	_, err := fsfake.FailingErrno("EEXIST")
	require.ErrorContains(t, err, "no call fails with EEXIST")
}

// A file that is written aside is renamed into place only when the write succeeded. The port of
// write-file-atomic did so in any case, and was called broken for what the library does not do.
func TestFailedWritesAreNotRenamed(t *testing.T) {
	for _, sc := range datafile.Scenarios() {
		if sc.ID != "write-file-atomic/fsync-file/start-after-loss" {
			continue
		}
		st := sc.Setting
		st.FailingCalls, st.FailWith = 1, []syscall.Errno{fsfake.ENOSPC}
		in, err := sc.In(st)
		require.NoError(t, err)
		r, err := Check(t.Context(), &in, scenarios.Wedge, Options{Workers: 1})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict)
		return
	}
	t.Fatal("the row is gone")
}
