package checker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// A task that goes round over a cell without an await blocks the event loop, so that nobody can
// change the cell: a deadlock, where the cell was taken before it came. Before, a marked loop hung
// the engine, and one without a mark got no verdict.
func TestSpinningOnACellBlocksTheEventLoop(t *testing.T) {
	testmain.Slow(t, "it tries out loops for thousands of rounds", "./checker")
	fixtures.OnlyAnswers(t)
	t.Parallel()
	taken := fsfake.Cell[bool]{Name: "taken"}
	for name, wait := range map[string]func(t *scenarios.Task){
		"marked": func(t *scenarios.Task) {
			for retry := t.Retry(); retry.Next() && taken.Load(t.Proc); {
			}
		},
		"not marked": func(t *scenarios.Task) {
			for taken.Load(t.Proc) {
			}
		},
	} {
		sc := plain(scenarios.Deadlock, func(t *scenarios.Task) (scenarios.Hold, error) {
			wait(t)
			taken.Store(t.Proc, true)
			h, err := create(t)
			taken.Store(t.Proc, false)
			return h, err
		})
		sc.Setting.Processes, sc.Setting.Tasks = 1, []int{2}
		engines := engines(t)
		if name != "marked" {
			engines = engines[:1] // a thousand calls are learned each time, which takes long
		}
		for _, engine := range engines {
			r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{oracle: engine})
			require.NoError(t, err, name)
			require.Equal(t, Broken, r.Verdict, name)
			cx := r.Counterexample
			require.Equal(t, "A1 A.2x1", cx.Schedule.String(), name)
			require.Len(t, cx.Waits, 1)
			require.Equal(t, trace.Spins, cx.Waits[0].How)
			require.Contains(t, cx.Cause, "A.2 goes round over the cell taken without an await")
			require.Less(t, len(cx.Trace[1].Calls), 10)
		}
		if name != "marked" {
			continue
		}
		s, err := Sample(t.Context(), sc, scenarios.Deadlock, SampleOptions{Runs: 5})
		require.NoError(t, err, name)
		require.Positive(t, s.Failures, name)

		_, err = Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
		require.ErrorContains(t, err, "of toy/impure/contend goes round over the cell taken without an await", name)

		sc.Setting.Concurrency = scenarios.Threads // there somebody else can change the cell
		r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict)
	}
}

// The run in which the locks of a scenario are looked for ends where a turn never does: before,
// each of its thousand steps was a turn of ten thousand accesses to the cell.
func TestATurnThatNeverEndsIsToldAtOnce(t *testing.T) {
	fixtures.OnlyAnswers(t)
	taken := fsfake.Cell[bool]{Name: "taken"}
	rounds := 0
	sc := plain(scenarios.Deadlock, func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); rounds++ {
			taken.Load(t.Proc)
		}
		panic("a retry loop was left")
	})
	sc.Setting.Tasks, sc.Setting.Stalls, sc.Setting.StallFor = []int{2, 1}, 1, time.Hour
	r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	require.Equal(t, "A1", r.Counterexample.Schedule.String())
	require.Less(t, rounds, 1_000_000) // twenty million before
}
