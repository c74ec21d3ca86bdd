package engine

import (
	"cmp"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A kill, live and on numbers.

// killable: a process that lives can be killed, whether it has anything left to do or idles, as a
// daemon does that waits for what never comes. Of a program with several processes the first one
// is, and the others outlive it, unless [scenarios.KillGroup] ends them all.
func (w *World) killable(process int) bool {
	for _, a := range w.actors {
		if a.task.Process == process && !a.gone && !(w.sc.External && (a.ended || a.family.Ended)) {
			return true
		}
	}
	return false
}

// kill ends a process: its pending operation is cut off, and its crash recorded. Of a program
// that goes on that is done when it has ended.
func (w *World) kill(process int) {
	w.sc.Setting.KillOn(w.M, scenarios.Pid(process))
	goesOn := false
	for _, a := range w.actors {
		switch {
		case a.task.Process != process:
		case w.sc.Setting.Outlives(a.family):
			goesOn = true
			w.outlive(a)
		default:
			w.History.Cut(a.index, w.Steps)
			w.gone(a)
		}
	}
	if !goesOn {
		w.History.Crash(len(w.actors)+process, w.Steps, scenarios.ProcessName(process))
	}
}

// outlive tells a program that its first process was killed.
func (w *World) outlive(a *actor) {
	r := fsfake.Result{Value: scenarios.Killed{Begun: a.blocked}}
	w.proceed(a, &r)
	_, a.blocked = w.M.Blocked(a.who())
	if w.marks {
		w.M.UnmarkAll(a.id)
	}
	w.bereft(a)
}

// bereft ends a program whose first process was killed when its last one has ended.
func (w *World) bereft(a *actor) {
	if a.ended && a.family.Killed {
		w.exit(a)
	}
}

// killable is the mirror of [world.killable].
func (w *Expander) killable(s []uint32, process int) bool {
	for j := range w.X.Slots {
		n := s[wordNodes+j] &^ learn.Begun
		if w.X.Slots[j].process == process && n != learn.Gone && !w.node(j, n).family.Ended {
			return true
		}
	}
	return false
}

// kill is the mirror of world.kill.
func (w *Expander) kill(s []uint32, process int, b budgets) error {
	x := w.X
	b.crashes--
	next, succ := w.begin(s, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: process, N: 1}}, -1)
	goesOn := false
	for j := range x.Slots {
		if x.Slots[j].process != process {
			continue
		}
		if x.Slots[j].Task.N == 1 {
			m, err := w.transition(s[wordMachine], j, x.special.kill)
			if err != nil {
				return err
			}
			next[wordMachine] = m.machine
		}
		if x.Sc.Setting.Outlives(w.node(j, s[wordNodes+j]&^learn.Begun).family) {
			goesOn = true
			if err := w.outlive(next, &succ, j); err != nil {
				return err
			}
			continue
		}
		if x.Histories != nil {
			next[WordHistory] = w.remember(next[WordHistory], j, x.Histories.Cut).to
		}
		next[wordNodes+j] = learn.Gone
	}
	if x.Histories != nil && !goesOn {
		st := w.remember(next[WordHistory], len(x.Slots)+process, x.Histories.Crash[process])
		next[WordHistory] = st.to
		succ.Bad = !st.ok
	}
	next[len(next)-1] = b.pack()
	w.end(&succ, next)
	return nil
}

// outlive is the mirror of world.outlive.
func (w *Expander) outlive(next []uint32, succ *successor, slot int) error {
	x, word := w.X, next[wordNodes+slot]
	killed := fsfake.Result{Value: scenarios.Killed{Begun: word&learn.Begun != 0}}
	l, err := w.edge(slot, word&^learn.Begun, x.machines.resultID(killed))
	if err != nil {
		return err
	}
	if err := w.follow(next, succ, slot, l); err != nil {
		return err
	}
	nd := x.automata[slot].Node(l.to &^ learn.Begun)
	m := x.machines.get(next[wordMachine])
	if _, waits := m.Blocked(cmp.Or(nd.Begins.By, x.Slots[slot].id)); waits && !nd.Ended {
		next[wordNodes+slot] |= learn.Begun
	}
	w.bereft(next, succ, slot, true)
	return nil
}

// bereft is the mirror of world.bereft; killed says whether the first process was.
func (w *Expander) bereft(next []uint32, succ *successor, slot int, killed bool) {
	if killed && next[wordNodes+slot] == learn.Ended {
		succ.Bad = !w.exit(next, w.X.Slots[slot].process) || succ.Bad
	}
}
