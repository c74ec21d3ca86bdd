package search

import (
	"os"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/history"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// runText makes one kept run of a schedule.
func runText(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, text string) Outcome {
	t.Helper()
	ts, err := NewTester(sc, p)
	require.NoError(t, err)
	o, err := ts.Run(sched.Replay{Schedule: fixtures.Parse(t, text)}, true)
	require.NoError(t, err)
	return o
}

// An operation's interval begins with its first step and ends with its last, wherever
// its task was delayed before and after.
func TestIntervalsAreTight(t *testing.T) {
	sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	// A acquires with step 1; B fails at step 2; A works, releases with steps 4 and 5.
	o := runText(t, sc, scenarios.MutualExclusion, "A1 B1 A3 B1 A1")
	at := func(step, stamp int) int64 { return int64((step-1)*trace.TimestampsPerStep + stamp) }
	require.Equal(t, []porcupine.Operation{
		{ClientId: 0, Input: model.Acquire{Owner: "A"}, Call: at(1, trace.AtCall), Output: model.Acquired{OK: true}, Return: at(1, trace.AtReturn)},
		{ClientId: 1, Input: model.Acquire{Owner: "B"}, Call: at(2, trace.AtCall), Output: model.Acquired{}, Return: at(2, trace.AtReturn)},
		{ClientId: 0, Input: model.Release{Owner: "A"}, Call: at(4, trace.AtCall), Output: model.Released{}, Return: at(5, trace.AtReturn)},
	}, o.History)
	require.True(t, o.Finished)
	require.Equal(t, 1, o.Contended)
}

// Wider intervals would hide the violation: with a release stamped before its first
// step, an acquisition that overlaps the critical section could come after it.
func TestTightIntervalsShowTheViolation(t *testing.T) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2})
	o := runText(t, sc, scenarios.MutualExclusion, "A1 B4 A3")
	require.True(t, o.Broken)
	require.Len(t, o.History, 2, "A and B have both acquired, and nobody has begun to release")
	loose := append([]porcupine.Operation(nil), o.History...)
	loose = append(loose, porcupine.Operation{
		ClientId: 1, Input: model.Release{Owner: "B"}, Call: o.History[1].Return + 1, Output: model.Pending{}, Return: trace.Never,
	})
	spec := scenarios.MutualExclusion.Spec
	require.False(t, history.NewJudge(spec).OK(o.History))
	require.True(t, history.NewJudge(spec).OK(loose))
}

// A crash cuts off what its process had begun: it may have taken effect or not, but
// not later.
func TestCrashCutsPendingOperations(t *testing.T) {
	sc := fixtures.New("toy/stat/crash", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2, Crashes: 1})
	o := runText(t, sc, scenarios.MutualExclusion, "A2! B1")
	require.Len(t, o.History, 3)
	acquire, crash := o.History[0], o.History[1]
	require.Equal(t, model.Pending{}, acquire.Output)
	require.Equal(t, model.Crash{Owner: "A"}, crash.Input)
	require.Less(t, acquire.Return, crash.Call)
	require.Equal(t, trace.Cost{Crashes: 1, Steps: 3}, o.Cost)

	// Without the crash the same operation is pending for ever.
	o = runText(t, sc, scenarios.MutualExclusion, "A2 B1")
	require.Equal(t, int64(trace.Never), o.History[0].Return)
}

// A dead process steps no more, and its kernel locks are gone.
func TestCrashDropsKernelLocks(t *testing.T) {
	sc := fixtures.New("toy/flock/crash", fixtures.Flock(), scenarios.Setting{Processes: 2, Crashes: 1})
	o := runText(t, sc, scenarios.Wedge, "A2 B2 A! B2")
	require.Equal(t, sched.Task{Process: 1, N: 1}, o.Trace[5].Choice.Task)
	require.False(t, o.Trace[5].Calls[0].Result.Blocked)
	ts, err := NewTester(sc, scenarios.Wedge)
	require.NoError(t, err)
	_, err = ts.Run(sched.Replay{Schedule: fixtures.Parse(t, "A! A1")}, true)
	require.ErrorContains(t, err, "step 2 of the schedule (A1) cannot happen: the task is blocked, has ended or was killed")
}

// A poller whose round saw nothing new ends the run when it is alone: it would go on
// for ever. With a crash left to come, the run goes on.
func TestIdlePollersEndARun(t *testing.T) {
	stuck := fixtures.New("toy/excl-wait/stuck", fixtures.ExclWait(), scenarios.Setting{Processes: 2})
	stuck.Setup = func(m *fsfake.Machine) {
		if err := m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644); err != nil {
			panic(err)
		}
	}
	ts, err := NewTester(stuck, scenarios.MutualExclusion)
	require.NoError(t, err)
	for seed := range uint64(20) {
		o, err := ts.Run(sched.NewRandom(seed), false)
		require.NoError(t, err)
		require.True(t, o.Finished)
		require.False(t, o.Cut)
		require.Less(t, len(o.Schedule), 30)
	}
	// A replay says itself how long it polls.
	o := runText(t, stuck, scenarios.MutualExclusion, "A20 B20")
	require.Len(t, o.Schedule, 40)
}

// A waiter goes on when the lock is free again, however long it polled.
func TestPollersSeeTheLockComeFree(t *testing.T) {
	sc := fixtures.New("toy/excl-wait/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 2})
	ts, err := NewTester(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	for seed := range uint64(50) {
		o, err := ts.Run(sched.NewRandom(seed), true)
		require.NoError(t, err)
		require.True(t, o.Finished)
		acquired := 0
		for _, op := range o.History {
			if a, ok := op.Output.(model.Acquired); ok && a.OK {
				acquired++
			}
		}
		require.Equal(t, 2, acquired, "seed %d", seed)
	}
}

// counter lets two tasks of one process add one each to a counter in its memory, and
// the second to come says on the disk what it saw.
func counter(c scenarios.Concurrency, yields bool) *scenarios.Scenario {
	cell := fsfake.Cell[int]{Name: "counter"}
	sc := fixtures.New("toy/counter/tasks", fixtures.Excl(), scenarios.Setting{Processes: 1, Tasks: []int{2}, Concurrency: c})
	sc.Program = func(_, task int) scenarios.Program {
		return func(t *scenarios.Task) {
			n := cell.Load(t.Proc)
			if yields {
				_ = t.Mkdir("/tmp/"+string(rune('a'+task)), 0o755)
			}
			cell.Store(t.Proc, n+1)
			if cell.Load(t.Proc) == 2 {
				_ = t.WriteFile("/both", nil, 0o644)
			}
		}
	}
	sc.Watch = []string{"/both"}
	return sc
}

// updatesKept reports in how many of the schedules of a counter no update was lost.
func updatesKept(t *testing.T, sc *scenarios.Scenario) (kept, all int) {
	t.Helper()
	ts, err := NewTester(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	d := &sched.DepthFirst{}
	for more := true; more; more = d.Advance() {
		o, err := ts.Run(d, true)
		require.NoError(t, err)
		all++
		if _, ok := o.Trace[len(o.Trace)-1].After.Lookup("/both"); ok {
			kept++
		}
	}
	return kept, all
}

// Threads interleave at every access to a cell. Under an event loop the accesses
// between two calls are one turn, which no other task can split; a call in between
// splits it.
func TestTurnsAndThreads(t *testing.T) {
	kept, all := updatesKept(t, counter(scenarios.Threads, false))
	require.Less(t, kept, all, "threads lose updates")
	require.Positive(t, kept)

	kept, all = updatesKept(t, counter(scenarios.EventLoop, false))
	require.Equal(t, all, kept, "a read-modify-write in one turn loses nothing")

	kept, all = updatesKept(t, counter(scenarios.EventLoop, true))
	require.Less(t, kept, all, "an await in between does")
	require.Positive(t, kept)
}

// While a task holds, the object at the lock's name is the one that it acquired.
func TestForeignRelease(t *testing.T) {
	steal := fixtures.Excl()
	steal.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil { // whoever has it must be dead
			_ = t.Unlink(fixtures.Lock)
			f, err = t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		}
		return scenarios.Hold{File: f}, err
	}
	sc := fixtures.New("toy/steal/contend", steal, scenarios.Setting{Processes: 2},
		scenarios.Claim{Property: scenarios.ForeignRelease, Verdict: scenarios.Broken})
	o := runText(t, sc, scenarios.ForeignRelease, "A1 B5")
	require.True(t, o.Broken)
	require.Equal(t, "A1 B2", o.Schedule.String(), "it ends with the step that removes the lock")
	a := sched.Task{Process: 0, N: 1}
	require.Equal(t, []trace.Holder{{Task: a, Path: fixtures.Lock, ID: o.Trace[0].Holders[0].ID, Since: 1}}, o.Trace[2].Holders)

	// One that never held has lost nothing, nor one that has begun its release.
	o = runText(t, sc, scenarios.ForeignRelease, "A3 B1 A1 B1")
	require.False(t, o.Broken)
}

// One schedule, one trace: nothing in a run depends on anything else.
func TestTwoRunsGiveOneTrace(t *testing.T) {
	fixtures.OneWorker(t)
	for _, sc := range situations() {
		for seed := range uint64(testmain.Many(1, 3, 10)) {
			var got [2]Outcome
			for i := range got {
				ts, err := NewTester(&sc, sc.Claims[0].Property)
				require.NoError(t, err)
				got[i], err = ts.Run(sched.NewRandom(seed), true)
				require.NoError(t, err)
			}
			require.Equal(t, got[0], got[1], sc.ID)
		}
	}
}
