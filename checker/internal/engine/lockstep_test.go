package engine

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/history"
	"lockpick/checker/internal/toys"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Live runs and the graph, step by step. A live run lets the real Go code of every
// task meet the real machine; the graph does the same on numbers. At every step of
// many random runs both must offer the same choices and come to the same machine, the
// same history, the same judgement and the same costs. What one of them gets wrong
// would have to be wrong in the other in the same way to pass.

// A lockstep is a live run with the state of the graph that it should be in.
type lockstep struct {
	t     *testing.T
	x     *Space
	g     *Expander
	w     *World
	judge *history.Judge
	row   []uint32
	last  uint32 // as in findSmallest: who stepped last, from 1; 0 when a switch is free
	path  sched.Schedule
	// Of the histories, when last compared.
	events   int
	compared uint32
}

// newLockstep starts a run.
func newLockstep(t *testing.T, x *Space) *lockstep {
	l := &lockstep{t: t, x: x, g: NewExpander(x), w: NewWorld(x.Sc, x.Property, x.Sc.NewMachine()), row: append([]uint32(nil), x.Initial...)}
	if x.Property.Judgement() == scenarios.ByHistory {
		l.judge = history.NewJudge(x.Property.Spec)
	}
	return l
}

// same fails the test when something differs. (It costs nothing while nothing does:
// there are many steps.)
func (l *lockstep) same(what string, ok bool, live, graph any) {
	if !ok {
		require.Failf(l.t, what+" differs", "%s %s after %q:\nlive:  %v\ngraph: %v", l.x.Sc.ID, l.x.Property, l.path, live, graph)
	}
}

// options compares what can happen now.
func (l *lockstep) options() []sched.Choice {
	l.w.Look()
	want := l.w.View.Options(nil)
	require.NoError(l.t, l.g.Expand(l.row))
	got := make([]sched.Choice, len(l.g.Out))
	for i := range got {
		got[i] = l.g.Out[i].Choice
	}
	l.same("the choices", slices.Equal(want, got), want, got)
	l.same("whether anybody is unfinished", l.w.Unfinished() == l.g.unfinished, l.w.Unfinished(), l.g.unfinished)
	if l.x.Property == scenarios.Deadlock {
		stuck, waits := l.w.Deadlocked()
		bad, why, err := l.x.BadEnd(l.g, l.row)
		require.NoError(l.t, err)
		l.same("a deadlock", stuck == bad && slices.Equal(waits, why), waits, why)
	}
	return want
}

// take makes one choice in both, and compares what came of it. It reports whether the
// run goes on.
func (l *lockstep) take(i int) bool {
	succ := l.g.Out[i]
	row := append([]uint32(nil), l.g.State(&succ)...)
	could := false
	for k := range l.g.Out {
		could = could || l.last > 0 && l.g.Out[k].Slot == int(l.last)-1
	}
	preempts := could && succ.Slot >= 0 && succ.Slot != int(l.last)-1
	l.same("preemption by "+succ.Choice.String(), l.w.Preempts(succ.Choice) == preempts, !preempts, preempts)
	calls := l.w.Apply(succ.Choice, nil)
	l.path = append(l.path, succ.Choice)
	require.NoError(l.t, l.w.Err)
	l.row = row
	switch {
	case succ.Slot >= 0 && succ.Asleep:
		l.last = 0
	case succ.Slot >= 0:
		l.last = uint32(succ.Slot + 1)
	}
	if succ.Choice.Action == sched.Run {
		asleep := l.w.actors[succ.Slot].asleep
		l.same("giving way", asleep == succ.Asleep, asleep, succ.Asleep)
		l.same("meeting a lock", Contended(calls) == succ.Contended, calls, succ.Contended)
	}
	l.compare(&succ)
	return !succ.Bad
}

func (l *lockstep) compare(succ *successor) {
	m := l.x.machines.get(l.row[wordMachine])
	if l.x.KeepNumbers { // as a live run does
		live, graph := l.w.M.AppendKey(nil), m.AppendKey(nil)
		l.same("the machine", bytes.Equal(live, graph), live, graph)
	}
	left, want := unpackBudgets(l.row[len(l.row)-1]), budgets{crashes: l.w.crashes, failing: l.w.fails, stalls: l.w.stalls, losses: l.w.Losses, signals: l.w.signals}
	l.same("what is left of faults", left == want, want, left)
	switch {
	case l.judge != nil:
		l.compareHistory(succ)
	case l.x.Property.Assertions:
		l.same("the assertions", (l.w.failed != "") == succ.Bad, l.w.failed, succ.Bad)
	case l.x.Property.Invariant != nil:
		bad := l.x.Property.Invariant(scenarios.NewView(l.w.M)) != ""
		l.same("the invariant", bad == succ.Bad, bad, succ.Bad)
	}
	for i, a := range l.w.actors {
		if l.w.finished(a) || l.w.exits(a) {
			continue
		}
		op := l.x.Op(l.row, i)
		l.same("the next call of "+a.task.String(), a.op == op, a.op, op)
	}
}

func (l *lockstep) compareHistory(succ *successor) {
	ok := l.judge.OK(l.w.History.Ops)
	l.same("the judgement", ok == !succ.Bad, ok, !succ.Bad)
	events := 0
	for _, op := range l.w.History.Ops {
		events++
		if op.Return != trace.Never {
			events++
		}
	}
	if l.x.Histories.MonitorsOnly || events == l.events && l.row[WordHistory] == l.compared {
		return // what was the same is the same
	}
	l.events, l.compared = events, l.row[WordHistory]
	live, graph := fixtures.HistoryText(l.judge.Spec, l.w.History.Ops), fixtures.HistoryText(l.judge.Spec, l.x.Histories.Operations(l.compared))
	l.same("the history", live == graph, live, graph)
}

// walk makes one random run of at most steps steps and returns how many it took.
// Faults are drawn seldom, so that they come anywhere and not mostly at the start.
func (l *lockstep) walk(rng *rand.Rand, steps int) int {
	defer l.w.Stop()
	prefer := rng.IntN(len(l.x.Slots))
	for n := range steps {
		options := l.options()
		if len(options) == 0 {
			return n
		}
		i := rng.IntN(len(options))
		if options[i].IsFault() && rng.IntN(8) > 0 {
			i = rng.IntN(len(options))
		}
		if rng.IntN(3) == 0 { // long stretches of one task, as preemptions leave them
			for k := range l.g.Out {
				if l.g.Out[k].Slot == prefer {
					i = k
				}
			}
		} else if l.g.Out[i].Slot >= 0 {
			prefer = l.g.Out[i].Slot
		}
		if !l.take(i) {
			return n + 1
		}
	}
	return steps
}

// lockstepRuns walks until that many steps are taken.
func lockstepRuns(t *testing.T, sc scenarios.Scenario, p *scenarios.Property, steps int) {
	for _, reduced := range []bool{false, true} {
		x, err := NewSpace(&sc, p)
		require.NoError(t, err)
		x.KeepNumbers = !reduced
		if reduced {
			x.RememberMonitors() // remember what a monitor makes of the history
		}
		lockstepWalks(t, x, steps)
	}
}

func lockstepWalks(t *testing.T, x *Space, steps int) {
	h := fnv.New64()
	_, _ = h.Write([]byte(x.Sc.ID))
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(len(x.Property.ID))))
	for taken := 0; taken < steps; {
		taken += max(newLockstep(t, x).walk(rng, 250), 1)
	}
}

func TestLockstep(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	steps := testmain.Many(500, 500, 2500)
	for _, sc := range fixtures.Rows() {
		for _, p := range lockstepProperties(&sc) {
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, sc, p, steps) })
		}
	}
}

// A scenario is walked for what it claims, for deadlock (no history in the state) and
// with faults that it does not claim anything about.
func TestLockstepWithMoreFaults(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	steps := testmain.Many(300, 300, 1000)
	for i, sc := range fixtures.Rows() {
		if i%2 != 0 && !testmain.Long() {
			continue
		}
		sc.Setting.Crashes += 2
		sc.Setting.Stalls++
		sc.Setting.Mortal = nil
		sc.Setting.FailingCalls++
		sc.Setting.StallFor = max(sc.Setting.StallFor, 60e9)
		t.Run(sc.ID, func(t *testing.T) {
			lockstepRuns(t, sc, sc.Claims[0].Property, steps)
			lockstepRuns(t, sc, scenarios.ForeignRelease, steps)
		})
	}
}

func lockstepProperties(sc *scenarios.Scenario) []*scenarios.Property {
	out := []*scenarios.Property{scenarios.Deadlock}
	for _, c := range sc.Claims {
		switch {
		case c.Property.OfSerialRuns(): // its machine, without its judgement
			out = append(out, &scenarios.Property{ID: "keeps-exits", Meaning: "Nothing is asked.", KeepsExits: true, Invariant: func(scenarios.View) string { return "" }})
		case c.Property != scenarios.Deadlock:
			out = append(out, c.Property)
		}
	}
	return out
}

// A property that was not made for its scenario is an error, and does not hold because nothing is judged.
func TestWhatIsNotBoundIsAnError(t *testing.T) {
	sc := toys.Properties()[0]
	_, err := NewSpace(&sc, scenarios.Serializable)
	require.ErrorContains(t, err, "call serial.Bind first")
}

// A survey makes a situation of every hazard: crashes, exits, stalls, signals, a loss of power, other clocks and pids,
// other file systems.
func TestLockstepOnHazards(t *testing.T) {
	testmain.Slow(t, "it compares each step of long runs", "./checker/internal/engine")
	fixtures.OneWorker(t)
	removes := func(t *scenarios.Task) { t.Leave(fixtures.Lock, func() { _ = t.Unlink(fixtures.Lock) }) }
	asked := map[string]int{}
	for id, l := range map[string]scenarios.Protocol{"toy/excl": fixtures.Excl(), "toy/excl-wait": fixtures.ExclWait(),
		"toy/flock": fixtures.Flock()} {
		studies, err := scenarios.Survey(scenarios.Subject{ID: id, Lock: l, Handler: removes})
		require.NoError(t, err)
		for _, study := range studies {
			for _, sc := range study.Scenarios {
				asked[study.Hazard.ID]++
				sc.Setting.FailingCalls++
				for _, p := range lockstepProperties(&sc) {
					t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, sc, p, 200) })
				}
			}
		}
	}
	require.Positive(t, asked[scenarios.HazardSignal])
	require.Positive(t, asked[scenarios.HazardPowerLoss])
}

// What a task starts begins in both at the same step, under an event loop and beside it; and both have the same
// choices.
func TestLockstepOnStartedTasks(t *testing.T) {
	told := fsfake.Cell[bool]{Name: "told"}
	for _, how := range []scenarios.Concurrency{scenarios.EventLoop, scenarios.Threads} {
		sc := fixtures.Programs(fmt.Sprint("toy/start/", how), scenarios.Setting{
			Processes: 2, Tasks: []int{2, 2}, Running: []int{1, 1}, Concurrency: how, Crashes: 1,
		}, func(_, task int) scenarios.Program {
			if task == 2 {
				return func(t *scenarios.Task) { t.Assert(told.Load(t.Proc), "it was told") }
			}
			return func(t *scenarios.Task) {
				_ = t.Choose(3)
				t.Start(2)
				told.Store(t.Proc, true)
				t.Work()
			}
		}, scenarios.Claim{Property: scenarios.Assertion})
		t.Run(sc.ID, func(t *testing.T) { lockstepRuns(t, *sc, scenarios.Assertion, 500) })
	}
}

func TestLockstepOnProperties(t *testing.T) {
	testmain.Slow(t, "it compares each step of long runs", "./checker/internal/engine")
	fixtures.OneWorker(t)
	early := scenarios.Scenario{
		ID: "toy/assert/early", Setting: scenarios.Setting{Processes: 2, Crashes: 1},
		Program: func(process, _ int) scenarios.Program {
			return func(task *scenarios.Task) {
				task.Assert(process == 0, "only A runs")
				_, _ = task.Stat("/")
				_, _ = task.Stat("/")
			}
		},
		Claims: []scenarios.Claim{{Property: scenarios.Assertion, Verdict: scenarios.Broken}},
	}
	for _, sc := range append(toys.Properties(), early) {
		sc.Setting.Crashes++
		for _, p := range lockstepProperties(&sc) {
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, sc, p, 500) })
		}
	}
}
