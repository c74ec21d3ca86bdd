package checker

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// manyLook is a lock that is broken early in a space that is large.
func manyLook(id string, alike bool) *scenarios.Scenario {
	return fixtures.New(id, fixtures.StatThenWrite(), scenarios.Setting{Processes: 4, Crashes: 1, Interchangeable: alike},
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Broken})
}

// seenBroken asserts that a result shows what was seen, and claims no more.
func seenBroken(t *testing.T, sc *scenarios.Scenario, r Result) {
	t.Helper()
	require.Equal(t, Broken, r.Verdict, r.Why)
	require.False(t, r.Complete)
	require.Equal(t, !r.Counterexample.Smallest, strings.Contains(r.Why, "a smaller counterexample may exist"))
	again, err := Replay(sc, r.Property, r.Counterexample.Schedule)
	require.NoError(t, err)
	require.True(t, again.Broken)
	require.Negative(t, r.Odds)
}

// A violation that was seen is shown whatever ends the search.
func TestWhatWasSeenIsNeverUnknown(t *testing.T) {
	testmain.Slow(t, "it covers a large space many times", "./checker")
	t.Parallel()
	for _, alike := range []bool{false, true} {
		for _, memory := range []Memory{RememberHistories, RememberMonitors} {
			if race.Detector && alike != (memory == RememberMonitors) {
				t.Log("SKIPPED under the race detector: symmetry with histories, and monitors without; go test ./checker runs them")
				continue
			}
			room := 0 // what is taken when it is stopped
			for _, workers := range []int{1, 3} {
				if workers == 1 && race.Detector {
					t.Log("SKIPPED under the race detector: one worker, whom nobody works beside; go test ./checker runs it")
					continue
				}
				sc := manyLook("toy/look/stopped", alike)
				ctx, cancel := context.WithCancel(context.Background())
				r, err := Check(ctx, sc, scenarios.MutualExclusion, Options{Full: true, Workers: workers, Memory: memory, Symmetry: alike, Progress: func(p Progress) {
					if p.Depth == 12 {
						room = p.Bytes
						cancel()
					}
				}})
				require.NoError(t, err)
				seenBroken(t, sc, r)
				require.False(t, r.Counterexample.Smallest)
				require.Contains(t, r.Why, "it was stopped")
				cancel()
			}
			sc := manyLook("toy/look/memory", alike)
			r, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{Full: true, Memory: memory, Symmetry: alike, Bytes: room})
			require.NoError(t, err)
			seenBroken(t, sc, r)
			require.Contains(t, r.Why, "MiB ended first")
		}
	}
}

// There may be no end to the schedules that cost less than the smallest counterexample: here those in
// which the process that writes for ever is never interrupted.
func TestNoEndOfWhatIsCheaper(t *testing.T) {
	testmain.Slow(t, "it searches until a budget ends", "./checker")
	fixtures.OnlyAnswers(t)
	t.Parallel()
	sc := fixtures.Programs("toy/stat/beside-a-log", scenarios.Setting{Processes: 3, Fixed: true}, func(process, _ int) scenarios.Program {
		if process > 0 {
			return scenarios.Once(fixtures.StatThenWrite())
		}
		return func(t *scenarios.Task) {
			f, err := t.OpenFile("/log", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
			for retry := t.Retry(); err == nil && retry.Next(); {
				_, err = f.Write([]byte("x"))
			}
		}
	}, scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Broken})
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{States: 3000})
	require.NoError(t, err)
	seenBroken(t, sc, r)
	require.False(t, r.Counterexample.Smallest)
}

// The same of states that are violations by themselves.
func TestDeadlocksThatWereSeen(t *testing.T) {
	sc := fixtures.Programs("toy/flock-twice/stopped", scenarios.Setting{Processes: 3, Crashes: 1}, flockTwice,
		scenarios.Claim{Property: scenarios.Deadlock, Verdict: Broken})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := Check(ctx, sc, scenarios.Deadlock, Options{Progress: func(p Progress) {
		if p.Depth == 10 {
			cancel()
		}
	}})
	require.NoError(t, err)
	seenBroken(t, sc, r)
}

// A search with few preemptions is bounded like any other.
func TestFewPreemptionsWithinBudgets(t *testing.T) {
	sc := fixtures.New("toy/excl/budget", fixtures.Excl(), scenarios.Setting{Processes: 3, Crashes: 1})
	two := 2
	r, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{Preemptions: &two, States: 100})
	require.NoError(t, err)
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Why, "the budget of 100 states ended first")
	require.Less(t, r.Stats.States, 1000)
	r, err = Check(context.Background(), sc, scenarios.MutualExclusion, Options{Preemptions: &two, Bytes: 100_000})
	require.NoError(t, err)
	require.Equal(t, Unknown, r.Verdict)
	require.Contains(t, r.Why, "MiB ended first")
}

// Nobody looks for traps where preemptions are bounded, so a smaller counterexample may be one: whoever waits for a
// dead owner's lock waits for ever, which takes fewer steps than a probe that does.
func TestNotSmallestWithoutTraps(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := fixtures.New("toy/excl-wait/wedge", fixtures.ExclWait(), scenarios.Setting{Processes: 2, Crashes: 1})
	whole, err := Check(t.Context(), sc, scenarios.Wedge, Options{})
	require.NoError(t, err)
	require.True(t, whole.Counterexample.Smallest)
	few := 4
	r, err := Check(t.Context(), sc, scenarios.Wedge, Options{Preemptions: &few})
	require.NoError(t, err)
	require.True(t, whole.Counterexample.Cost.Less(r.Counterexample.Cost))
	require.False(t, r.Counterexample.Smallest)
	require.Contains(t, r.Why, "whether a process polls for ever in vain was not asked")
	seenBroken(t, sc, r)
}

// Odds that would take more memory than there is are left out, and said to be.
func TestOddsWithinBudgets(t *testing.T) {
	sc := fixtures.New("toy/look/odds", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2})
	ctx := context.Background()
	r, err := Check(ctx, sc, scenarios.MutualExclusion, Options{Workers: 1})
	require.NoError(t, err)
	require.Positive(t, r.Odds)
	require.Empty(t, r.OddsWhy)
	r, err = Check(ctx, sc, scenarios.MutualExclusion, Options{Workers: 1, Bytes: r.Stats.Bytes})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	require.Negative(t, r.Odds)
	require.Contains(t, r.OddsWhy, "the graph takes")
}
