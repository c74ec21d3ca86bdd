package engine

import "lockpick/checker/internal/learn"

// Local steps of programs: a program reads a file that nobody changes, closes a descriptor that it shares, or starts a
// child. Such a step commutes with every step that others can make before it, and no property is judged in between. So
// the steps of others need not be tried beside it: it is an ample set of one step (Peled, "All from one, one for all",
// CAV 1993). An ample set of one step keeps what is asked of ends, and whether one can be reached (Gerth, Kuiper, Peled
// and Penczek, "A Partial Order Approach to Branching Time Logic Model Checking", ISTCS 1995).
//
// Where children of one program go on side by side, which call goes first is a choice of its own. A call that only
// looks at what nobody changes, its siblings included, is chosen alone then (fsfake.Machine.LocalWay).
//
// The others must get on at some time. So a search expands a state in full where the local step leads to a state that
// was expanded before (Bošnački and Holzmann, "Improving Spin's Partial-Order Reduction for Breadth-First Search",
// SPIN 2005).
//
// Which steps are local hangs on what programs change, of which a search knows only what it has seen: a
// [fsfake.Footprint]. A search whose footprint grew by something that a local step had relied on begins anew, with
// what it knows then. In the end no step that was followed, and so none that commutes with these, changes any of it.
//
// A search that leaves states out cannot tell odds, nor what goes on for ever.

// A localKey is a call of a task on a machine; still: no stall may come.
type localKey struct {
	transition uint64
	still      bool
}

// ExpandLocal computes one successor of s by a local step, if that leads to a new state, and returns whose step it is.
// It returns -1 if there is none.
func (w *Expander) ExpandLocal(s []uint32, isNew func(words []uint32) bool) (slot int, err error) {
	b := unpackBudgets(s[len(s)-1])
	if b.crashes > 0 || b.failing > 0 || b.losses > 0 || b.signals > 0 {
		return -1, nil
	}
	for i := range w.X.Slots {
		if is, err := w.ExpandAlone(s, i); err != nil || !is {
			if err != nil {
				return -1, err
			}
			continue
		}
		if len(w.Out) == 1 && !w.Out[0].Bad {
			if to := w.State(&w.Out[0]); to[WordHistory] == s[WordHistory] && isNew(to) {
				return i, nil
			}
		}
	}
	return -1, nil
}

// ExpandAlone computes the successor of s by the next step of a task, and reports whether that step is local.
func (w *Expander) ExpandAlone(s []uint32, slot int) (bool, error) {
	which := w.local(s, slot, unpackBudgets(s[len(s)-1]).stalls == 0)
	if which == everyWay {
		return false, nil
	}
	w.Out, w.words, w.unfinished = w.Out[:0], w.words[:0], false
	return true, w.steps(s, slot, which, false)
}

// local is the way in which the next step of a task is known to be local; everyWay where it is not.
func (w *Expander) local(s []uint32, slot int, still bool) int {
	finished, exits := w.status(s, slot)
	n := s[wordNodes+slot]
	if finished || exits || n&learn.Begun != 0 {
		return everyWay
	}
	pl := w.node(slot, n)
	if pl.cell || pl.begins || pl.fails || pl.starts != 0 || pl.inv != 0 || pl.unmark != 0 {
		return everyWay
	}
	key := localKey{transitionKey(s[wordMachine], slot, pl.op), still}
	if is, known := w.locals[key]; known {
		return is
	}
	m := w.X.machines.put(&w.workspace, s[wordMachine])
	if w.locals == nil {
		w.locals = map[localKey]int{}
	}
	which, op, t := everyWay, w.X.Op(s, slot), w.X.machines
	t.touching.Lock()
	if op.Ways() > 1 {
		which = m.m.LocalWay(&op, still, &t.footprint)
	} else if m.m.Local(w.who(s, slot), op, still, &t.footprint) {
		which = 0
	}
	t.touching.Unlock()
	w.locals[key] = which
	return which
}

// RelyOnFootprint begins a search that follows local steps alone.
func (x *Space) RelyOnFootprint() {
	x.machines.touching.Lock()
	defer x.machines.touching.Unlock()
	x.machines.footprint.Rely()
}

// FootprintRefuted reports whether programs have changed since what a local step looks at that was followed alone, or
// have looked which children there are. Then the search is to begin anew.
func (x *Space) FootprintRefuted() bool {
	x.machines.touching.Lock()
	defer x.machines.touching.Unlock()
	return x.machines.footprint.Refuted()
}
