package engine

import (
	"fmt"
	"slices"

	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Power loss. A setting may allow the power to be lost once, before any step and after the
// last one. Every process that has not exited dies of it: its pending operation is cut off,
// and a crash of it is recorded, as when it is killed. The disk is left in one of the
// states that package fsfake lists as legal for that moment, each a choice of its own in
// the schedule ("*0" keeps everything that programs had written), and then the processes
// of Setting.Reboot begin. They do not exist before: until then they neither step nor wait,
// can not be killed, and a run is finished without them. In a [Cost] a power loss counts
// as a crash.
//
// A verdict "holds" covers every legal state of the disk at every moment, as far as the property tells them apart;
// the number of
// states merged in it is what the machine remembers beside what programs see. What is
// legal, and what was left out (torn single writes above all), is said in package fsfake.
//
// What the property demands across a reboot is what it demands of crashes: a specification
// speaks of the history, and the history goes on after the reboot. A value whose write had
// returned must be read; a lock whose holder has died is free. Wedge asks about both ends:
// with the power lost and without.

// lossStates is how many states the disk may be in when the power is lost now, and 0 when
// it cannot be lost.
func (w *World) lossStates() int {
	if w.Losses == 0 {
		return 0
	}
	l, err := w.sc.Losses(w.M, w.property)
	if err != nil {
		w.fail("%s: %w", w.sc.ID, err)
	}
	return l.Len()
}

// losePower ends every process, and starts those that run after the reboot.
func (w *World) losePower(state int) {
	w.Losses--
	var died []int
	for _, a := range w.actors {
		if !a.gone {
			w.History.Cut(a.index, w.Steps)
			if p := a.task.Process; !slices.Contains(died, p) {
				died = append(died, p)
			}
		}
	}
	for _, p := range died {
		w.History.Crash(len(w.actors)+p, w.Steps, scenarios.ProcessName(p))
	}
	l, err := w.sc.Losses(w.M, w.property)
	if err != nil {
		w.fail("%s: %w", w.sc.ID, err)
		return
	}
	w.sc.LosePower(w.M, l, state)
	for _, a := range w.actors {
		if !a.gone {
			w.gone(a)
		}
		if w.sc.Setting.AfterReboot(a.task.Process) && w.sc.Setting.RunsAtFirst(a.task.Process, a.task.N) {
			w.begin(a)
		}
	}
}

// opLose is the operation on a machine of losing its power.
type opLose struct{ state int }

// lossStates is the mirror of world.lossStates.
func (w *Expander) lossStates(machine uint32) (int, error) {
	n, ok := w.losses[machine]
	if !ok {
		l, err := w.X.Sc.Losses(w.X.machines.get(machine), w.X.Property)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", w.X.Sc.ID, err)
		}
		if n = l.Len(); !l.Whole {
			w.X.someDisks.Store(true)
		}
		w.losses[machine] = n
	}
	return n, nil
}

// losePower is the mirror of world.losePower, for every state that the disk may be in.
func (w *Expander) losePower(s []uint32, b budgets) error {
	n, err := w.lossStates(s[wordMachine])
	if err != nil {
		return err
	}
	hist, ok := w.loseHistory(s)
	b.losses--
	for k := range n {
		m, err := w.transition(s[wordMachine], 0, w.X.machines.op(opLose{k}))
		if err != nil {
			return err
		}
		next, succ := w.begin(s, sched.Choice{Action: sched.PowerLoss, State: k}, -1)
		next[wordMachine], next[WordHistory] = m.machine, hist
		copy(next[wordNodes:], w.X.rebooted)
		next[len(next)-1] = b.pack()
		succ.Bad = !ok
		w.end(&succ, next)
	}
	return nil
}

// loseHistory appends to a history what a power loss adds: what was pending is cut, and all
// crashes happen at once. It reports whether the result is linearizable.
func (w *Expander) loseHistory(s []uint32) (uint32, bool) {
	x := w.X
	hist, ok := s[WordHistory], true
	if x.Histories == nil {
		return hist, ok
	}
	var died []int
	for j := range x.Slots {
		if s[wordNodes+j] != learn.Gone {
			hist = w.remember(hist, j, x.Histories.Cut).to
			if p := x.Slots[j].process; !slices.Contains(died, p) {
				died = append(died, p)
			}
		}
	}
	for _, p := range died {
		in := model.Crash{Owner: scenarios.ProcessName(p)}
		hist = w.remember(hist, len(x.Slots)+p, x.Histories.Event(history.Invoke, in, in)).to
	}
	for _, p := range died {
		in := model.Crash{Owner: scenarios.ProcessName(p)}
		st := w.remember(hist, len(x.Slots)+p, x.Histories.Event(history.Return, in, model.Crashed{}))
		hist, ok = st.to, ok && st.ok
	}
	return hist, ok
}
