package checker

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/history"
	"lockpick/checker/trace"
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
	x     *explorer
	g     *worker
	w     *world
	judge *history.Judge
	row   []uint32
	last  uint32 // as in findSmallest: who stepped last, from 1; 0 when a switch is free
	path  sched.Schedule
	// Of the histories, when last compared.
	events int
	past   uint32
}

// newLockstep starts a run.
func newLockstep(t *testing.T, x *explorer) *lockstep {
	l := &lockstep{t: t, x: x, g: newWorker(x), w: newWorld(x.sc, x.property, x.sc.NewMachine()), row: append([]uint32(nil), x.initial...)}
	if x.property.Judgement() == scenarios.ByHistory {
		l.judge = history.NewJudge(x.property.Spec)
	}
	return l
}

// same fails the test when something differs. (It costs nothing while nothing does:
// there are many steps.)
func (l *lockstep) same(what string, ok bool, live, graph any) {
	if !ok {
		require.Failf(l.t, what+" differs", "%s %s after %q:\nlive:  %v\ngraph: %v", l.x.sc.ID, l.x.property, l.path, live, graph)
	}
}

// options compares what can happen now.
func (l *lockstep) options() []sched.Choice {
	l.w.look()
	want := l.w.view.Options(nil)
	require.NoError(l.t, l.g.expand(l.row))
	got := make([]sched.Choice, len(l.g.out))
	for i := range got {
		got[i] = l.g.out[i].choice
	}
	l.same("the choices", slices.Equal(want, got), want, got)
	l.same("whether anybody is unfinished", l.w.unfinished() == l.g.unfinished, l.w.unfinished(), l.g.unfinished)
	if l.x.property == scenarios.Deadlock {
		stuck, waits := l.w.deadlocked()
		bad, why, err := l.x.badEnd(l.g, l.row)
		require.NoError(l.t, err)
		l.same("a deadlock", stuck == bad && slices.Equal(waits, why), waits, why)
	}
	return want
}

// take makes one choice in both, and compares what came of it. It reports whether the
// run goes on.
func (l *lockstep) take(i int) bool {
	succ := l.g.out[i]
	row := append([]uint32(nil), l.g.state(&succ)...)
	could := false
	for k := range l.g.out {
		could = could || l.last > 0 && l.g.out[k].slot == int(l.last)-1
	}
	preempts := could && succ.slot >= 0 && succ.slot != int(l.last)-1
	l.same("preemption by "+succ.choice.String(), l.w.preempts(succ.choice) == preempts, !preempts, preempts)
	calls := l.w.apply(succ.choice, nil)
	l.path = append(l.path, succ.choice)
	require.NoError(l.t, l.w.err)
	l.row = row
	switch {
	case succ.slot >= 0 && succ.asleep:
		l.last = 0
	case succ.slot >= 0:
		l.last = uint32(succ.slot + 1)
	}
	if succ.choice.Action == sched.Run {
		asleep := l.w.actors[succ.slot].asleep
		l.same("giving way", asleep == succ.asleep, asleep, succ.asleep)
		l.same("meeting a lock", contended(calls) == succ.met, calls, succ.met)
	}
	l.compare(&succ)
	return !succ.bad
}

func (l *lockstep) compare(succ *successor) {
	m, _ := l.x.machines.get(l.row[wordMachine], 0)
	live, graph := l.w.m.AppendKey(nil), m.AppendKey(nil)
	l.same("the machine", bytes.Equal(live, graph), live, graph)
	left, want := unpackBudgets(l.row[len(l.row)-1]), budgets{l.w.crashes, l.w.stalls, l.w.losses}
	l.same("what is left of faults", left == want, want, left)
	switch {
	case l.judge != nil:
		l.compareHistory(succ)
	case l.x.property.Invariant != nil:
		bad := l.x.property.Invariant(scenarios.NewView(l.w.m)) != ""
		l.same("the invariant", bad == succ.bad, bad, succ.bad)
	}
	for i, a := range l.w.actors {
		if l.w.finished(a) || l.w.exits(a) {
			continue
		}
		op := l.x.op(l.row, i)
		l.same("the next call of "+a.task.String(), a.op == op, a.op, op)
	}
}

func (l *lockstep) compareHistory(succ *successor) {
	ok := l.judge.OK(l.w.history.Ops)
	l.same("the judgement", ok == !succ.bad, ok, !succ.bad)
	events := 0
	for _, op := range l.w.history.Ops {
		events++
		if op.Return != trace.Never {
			events++
		}
	}
	if l.x.histories.MonitorsOnly || events == l.events && l.row[wordHistory] == l.past {
		return // what was the same is the same
	}
	l.events, l.past = events, l.row[wordHistory]
	live, graph := historyText(l.judge.Spec, l.w.history.Ops), historyText(l.judge.Spec, l.x.pastOperations(l.past))
	l.same("the history", live == graph, live, graph)
}

// walk makes one random run of at most steps steps and returns how many it took.
// Faults are drawn seldom, so that they come anywhere and not mostly at the start.
func (l *lockstep) walk(rng *rand.Rand, steps int) int {
	defer l.w.stop()
	prefer := rng.IntN(len(l.x.slots))
	for n := range steps {
		options := l.options()
		if len(options) == 0 {
			return n
		}
		i := rng.IntN(len(options))
		if options[i].Action != sched.Run && rng.IntN(8) > 0 {
			i = rng.IntN(len(options))
		}
		if rng.IntN(3) == 0 { // long stretches of one task, as preemptions leave them
			for k := range l.g.out {
				if l.g.out[k].slot == prefer {
					i = k
				}
			}
		} else if l.g.out[i].slot >= 0 {
			prefer = l.g.out[i].slot
		}
		if !l.take(i) {
			return n + 1
		}
	}
	return steps
}

// lockstepRuns walks until that many steps are taken.
func lockstepRuns(t *testing.T, sc scenarios.Scenario, p *scenarios.Property, steps int) {
	x, err := newExplorer(&sc, p)
	require.NoError(t, err)
	for _, watched := range []bool{false, true} {
		if watched && x.histories == nil {
			return
		} else if watched {
			x, err = newExplorer(&sc, p)
			require.NoError(t, err)
			x.histories.RememberMonitors() // remember what a monitor makes of the history
		}
		lockstepWalks(t, x, steps)
	}
}

func lockstepWalks(t *testing.T, x *explorer, steps int) {
	h := fnv.New64()
	_, _ = h.Write([]byte(x.sc.ID))
	rng := rand.New(rand.NewPCG(h.Sum64(), uint64(len(x.property.ID))))
	for taken := 0; taken < steps; {
		taken += max(newLockstep(t, x).walk(rng, 250), 1)
	}
}

func TestLockstep(t *testing.T) {
	t.Parallel()
	steps := 2500
	if testing.Short() {
		steps = 1000
	}
	for _, sc := range rows() {
		for _, p := range lockstepProperties(&sc) {
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, sc, p, steps) })
		}
	}
}

// A scenario is walked for what it claims, for deadlock (no history in the state) and
// with faults that it does not claim anything about.
func TestLockstepWithMoreFaults(t *testing.T) {
	t.Parallel()
	steps := 1000
	if testing.Short() {
		steps = 500
	}
	for _, sc := range rows() {
		sc.Setting.Crashes += 2
		sc.Setting.Stalls++
		sc.Setting.Mortal = nil
		sc.Setting.StallFor = max(sc.Setting.StallFor, 60e9)
		t.Run(sc.ID, func(t *testing.T) {
			lockstepRuns(t, sc, sc.Claims[0].Property, steps)
			lockstepRuns(t, sc, scenarios.ForeignRelease, steps)
		})
	}
}

func TestLockstepOnToys(t *testing.T) {
	t.Parallel()
	for _, sc := range toys() {
		for _, p := range lockstepProperties(sc) {
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, *sc, p, 3000) })
		}
	}
}

func lockstepProperties(sc *scenarios.Scenario) []*scenarios.Property {
	out := []*scenarios.Property{scenarios.Deadlock}
	for _, c := range sc.Claims {
		if c.Property != scenarios.Deadlock {
			out = append(out, c.Property)
		}
	}
	return out
}
