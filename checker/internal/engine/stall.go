package engine

import (
	"time"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A stall, live and on numbers. Where no process is punctual it is one jump of the clock. Punctual
// tasks wake in time, so there it passes in pieces, each a choice of its own, and between
// two of them whoever has to do something does it. What is left of a stall need not pass.

// A piece is one move of the clock.
type piece struct {
	pass, left time.Duration // how far it goes, and what is left of its stall after it
	stalls     int           // that may still begin after it
}

// pieceOf returns the next move of the clock that a setting allows with so many stalls left, and
// whether there is one. waits tells whether a task cannot take a step.
func pieceOf(set *scenarios.Setting, m *fsfake.Machine, stalls int, waits func(fsfake.Task) bool) (piece, bool) {
	all, after := m.StallLeft(), stalls
	if all == 0 {
		if stalls == 0 {
			return piece{}, false
		}
		all, after = set.StallFor, stalls-1
	}
	pass := m.MayPass(all, waits)
	return piece{pass, all - pass, after}, pass != 0 // less than 0 sets the clock back
}

// piece is the next move of the clock in a live run.
func (w *World) piece() (piece, bool) {
	if !w.timeLeft() || !w.Unfinished() {
		return piece{}, false
	}
	return pieceOf(&w.sc.Setting, w.M, w.stalls, w.waits)
}

// waits reports whether a task cannot take a step, were it only for others.
func (w *World) waits(t fsfake.Task) bool {
	for _, a := range w.actors {
		if a.id == t {
			return w.finished(a) || a.blocked && !w.M.Ready(a.who(), a.op)
		}
	}
	return true
}

// robs reports that a task cannot wake yet: see [fsfake.Machine.Robs].
func (w *Expander) robs(s []uint32, slot int) bool {
	if !w.X.lasts || len(w.X.Sc.Setting.Punctual) == 0 && !w.X.Sc.External || s[wordNodes+slot]&learn.Begun == 0 {
		return false
	}
	m := w.X.machines.get(s[wordMachine])
	return m.Robs(w.who(s, slot), func(t fsfake.Task) bool {
		for i := range w.X.Slots {
			if w.X.Slots[i].id == t {
				finished, _ := w.status(s, i)
				return finished || s[wordNodes+i]&learn.Begun != 0 && !m.Ready(w.who(s, i), w.X.Op(s, i))
			}
		}
		return true
	})
}

// who makes a task's next call: itself, or what a program has started.
func (w *Expander) who(s []uint32, slot int) fsfake.Task {
	if by := w.X.automata[slot].Node(s[wordNodes+slot] &^ learn.Begun).Begins.By; by != (fsfake.Task{}) {
		return by
	}
	return w.X.Slots[slot].id
}

// timeLeft reports whether the clock may move, now or later.
func (w *World) timeLeft() bool { return w.stalls > 0 || w.M.StallLeft() > 0 }

// delayed reports whether a task may be: whoever is punctual and awake must go on before any time
// passes, so that a round of it is not in vain where time is left.
func (w *World) delayed(a *actor) bool {
	return a.asleep || !w.timeLeft() || !w.sc.Setting.IsPunctual(a.task.Process)
}

// stall moves the clock.
func (w *World) stall() {
	p, _ := w.piece()
	w.stalls, w.passed = p.stalls, p.pass
	w.M.Stall(p.pass, p.left)
}

// stall is the mirror of [World.stall]: Out has the steps that tasks can take.
func (w *Expander) stall(s []uint32, b budgets) error {
	p, op := piece{stalls: b.stalls - 1}, w.X.special.stall
	if set := &w.X.Sc.Setting; len(set.Punctual) == 0 {
		if b.stalls == 0 {
			return nil
		}
	} else {
		m := w.X.machines.get(s[wordMachine])
		var ok bool
		if p, ok = pieceOf(set, m, b.stalls, w.waits); !ok {
			return nil
		}
		op = w.X.machines.op(opStall{p.pass, p.left})
	}
	m, err := w.transition(s[wordMachine], 0, op)
	if err != nil {
		return err
	}
	b.stalls = p.stalls
	next, succ := w.begin(s, sched.Choice{Action: sched.Stall}, -1)
	next[wordMachine] = m.machine
	next[len(next)-1] = b.pack()
	w.end(&succ, next)
	return nil
}

// waits reports whether a task has no step in Out.
func (w *Expander) waits(t fsfake.Task) bool {
	for i := range w.Out {
		if slot := w.Out[i].Slot; slot >= 0 && w.X.Slots[slot].id == t {
			return false
		}
	}
	return true
}
