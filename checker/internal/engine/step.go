package engine

import (
	"math/bits"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A step of a task, twice: of a live run, and on the numbers of a space. The two must do
// the same; package documentation says what a step is.

// step lets a make its next call, which goes in one of its ways, or fails with an error. Under an event loop a turn, the cell accesses up to
// the next system call, is one step, and so is a choice with the call that it chooses (scenarios.Chosen).
func (w *World) step(a *actor, which int, fails string, calls []trace.Call) []trace.Call {
	w.last = a.index
	a.asleep, a.idle = false, false
	if w.exits(a) {
		a.op = exitOf(w.property)
	}
	if a.begins.LetGo {
		by := a
		if a.begins.OfFirst {
			by = w.first(a.task.Process)
		}
		w.letGo(by, lockOf(&a.begins))
	}
	if a.begins.Invoked {
		w.History.Invoke(a.index, w.Steps, a.begins.Input)
	}
	if !a.stepped {
		a.stepped = true
		w.assertion(a, &a.begins) // before its first call
	}
	a.begins = learn.Effects{}
	turn := w.sc.Setting.Concurrency == scenarios.EventLoop && a.op.Call.IsCell()
	for begun := len(calls); ; {
		if len(calls)-begun > turnCalls {
			w.spins, w.Err = a, spins(w.sc, w.property, a.task, a.op)
			return calls[:begun+spunCalls]
		}
		op, source := a.op.Way(which), w.source(a)
		if a.by == (fsfake.Task{}) {
			op = kept(w.property, op)
		}
		a.chosen += bits.Len(uint(a.op.Ways() - 1))
		r := w.do(a, op, fails)
		w.observed.call(op, &r, w.sc.External)
		calls = append(calls, trace.Call{Op: op, Result: r, By: a.by, Source: source})
		if r.Unmodelled != "" {
			w.fail("%s: %s: %s", a.task, op.Call, r.Unmodelled)
			return calls
		}
		a.sleeps = a.sleeps || op.Call == fsfake.CallSleep
		if a.blocked = r.Blocked; r.Blocked {
			a.asleep = op.Call == fsfake.CallSleep
			return calls
		}
		if endsProcess(w.sc, op) && a.by == (fsfake.Task{}) { // the task's own process ends
			w.exit(a)
			return calls
		}
		a.asleep = op.Call == fsfake.CallSleep
		if op.Call == fsfake.CallStart {
			w.start(a, op.Len)
		}
		w.proceed(a, &r)
		w.bereft(a)
		if a.begins.Seen.Has(scenarios.Chosen) && !a.ended && w.Err == nil {
			which = 0
			continue
		}
		if !turn || a.ended || !a.op.Call.IsCell() || w.Err != nil {
			return calls
		}
		if a.begins.Invoked || a.begins.LetGo || a.begins.Returned {
			// Operations begin and end between steps.
			return calls
		}
	}
}

// ways is in how many ways a task's next step can go.
func (w *Expander) ways(s []uint32, slot int, exits bool) int {
	if exits {
		return 1
	}
	return max(len(w.node(slot, s[wordNodes+slot]&^learn.Begun).ways), 1)
}

// failing is a step whose call fails, in way k of those of its node.
func (w *Expander) failing(s []uint32, slot, k int) error {
	f := w.node(slot, s[wordNodes+slot]&^learn.Begun).failing[k]
	m, err := w.transition(s[wordMachine], slot, f.op)
	if err != nil || m.blocked {
		return err
	}
	return w.step(s, slot, false, 0, &f)
}

// step is the mirror of [world.step] on numbers.
func (w *Expander) step(s []uint32, slot int, exits bool, which int, fails *failingWay) error {
	x := w.X
	next, succ := w.begin(s, sched.Choice{Action: sched.Run, Task: x.Slots[slot].Task, Which: which}, slot)
	if exits {
		m, err := w.transition(s[wordMachine], slot, x.special.exit)
		if err != nil {
			return err
		}
		next[wordMachine] = m.machine
		succ.Bad = !w.exit(next, x.Slots[slot].process)
		w.end(&succ, next)
		return nil
	}
	word := s[wordNodes+slot]
	n, begun := word&^learn.Begun, word&learn.Begun != 0
	pl := w.node(slot, n)
	if fails != nil {
		succ.Choice.Fails = fails.name
		b := unpackBudgets(next[len(next)-1])
		b.failing--
		next[len(next)-1] = b.pack()
	}
	if !begun {
		succ.Bad = pl.fails
		if pl.unmark != 0 {
			by := slot
			if pl.ofFirst {
				by, _ = x.tasksOf(x.Slots[slot].process)
			}
			m, err := w.transition(next[wordMachine], by, pl.unmark)
			if err != nil {
				return err
			}
			next[wordMachine] = m.machine
		}
		st := w.remember(next[WordHistory], slot, pl.inv)
		next[WordHistory] = st.to
		succ.Bad = succ.Bad || !st.ok
	}
	turn := pl.cell && x.Sc.Setting.Concurrency == scenarios.EventLoop
	for made, first := 0, true; ; made, first = made+1, false {
		if made > turnCalls {
			if err := spins(x.Sc, x.Property, x.Slots[slot].Task, x.Op(next, slot)); err != nil {
				return err
			}
			succ.Bad = true
			break
		}
		op := pl.op
		if which > 0 {
			op = pl.ways[which]
		}
		if fails != nil {
			op = fails.op
		}
		m, err := w.transition(next[wordMachine], slot, op)
		if err != nil {
			return err
		}
		succ.Contended = succ.Contended || m.contended
		if m.blocked {
			if len(pl.ways) > 0 {
				return nil // the way is shut
			}
			if first && begun && m.machine == next[wordMachine] {
				return nil // still not granted: it cannot take a step
			}
			next[wordMachine], next[wordNodes+slot] = m.machine, n|learn.Begun
			succ.Asleep = pl.sleep
			break
		}
		next[wordMachine] = m.machine
		if pl.exit {
			succ.Bad = !w.exit(next, x.Slots[slot].process) || succ.Bad
			break
		}
		if pl.starts != 0 {
			if err := w.start(next, slot, pl.starts); err != nil {
				return err
			}
		}
		l, err := w.edge(slot, n, m.result)
		if err != nil {
			return err
		}
		if err := w.follow(next, &succ, slot, l); err != nil {
			return err
		}
		succ.Asleep = pl.sleep
		w.bereft(next, &succ, slot, pl.family.Killed)
		n, begun = l.to&^learn.Begun, l.to&learn.Begun != 0
		pl = w.node(slot, n)
		if pl.chosen && !begun {
			which = 0
			continue
		}
		if !turn || pl.ended || !pl.cell || pl.begins && !begun || l.returned {
			break
		}
	}
	w.end(&succ, next)
	return nil
}

// follow goes over an edge of a task: what ended with the call before it is remembered.
func (w *Expander) follow(next []uint32, succ *successor, slot int, l *knownEdge) error {
	st := w.remember(next[WordHistory], slot, l.ret)
	next[WordHistory] = st.to
	succ.Bad = succ.Bad || !st.ok || l.fails
	if l.mark != 0 {
		m, err := w.transition(next[wordMachine], slot, l.mark)
		if err != nil {
			return err
		}
		next[wordMachine] = m.machine
	}
	if l.tops != 0 {
		m, err := w.transition(next[wordMachine], slot, l.tops)
		if err != nil {
			return err
		}
		next[wordMachine] = m.machine
	}
	if err := w.forget(next, slot, l); err != nil {
		return err
	}
	next[wordNodes+slot] = l.to
	return nil
}

// Contended reports whether any of some calls met somebody else's lock. It is how a verdict
// "holds" shows that it is not vacuous.
func Contended(calls []trace.Call) bool {
	for i := range calls {
		if calls[i].Op.Call.Contends(&calls[i].Result) {
			return true
		}
	}
	return false
}
