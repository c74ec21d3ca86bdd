package engine

import (
	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A kill, live and on numbers.

// killable: a process that lives can be killed, whether it has anything left to do or idles, as a
// daemon does that waits for what never comes.
func (w *World) killable(process int) bool {
	for _, a := range w.actors {
		if a.task.Process == process && !a.gone {
			return true
		}
	}
	return false
}

// kill ends a process: its pending operation is cut off, and its crash recorded.
func (w *World) kill(process int) {
	w.M.KillProc(scenarios.Pid(process))
	for _, a := range w.actors {
		if a.task.Process == process {
			w.History.Cut(a.index, w.Steps)
			w.gone(a)
		}
	}
	w.History.Crash(len(w.actors)+process, w.Steps, scenarios.ProcessName(process))
}

// killable is the mirror of [world.killable].
func (w *Expander) killable(s []uint32, process int) bool {
	for j := range w.X.Slots {
		if w.X.Slots[j].process == process && s[wordNodes+j]&^learn.Begun != learn.Gone {
			return true
		}
	}
	return false
}

// kill is the mirror of world.kill.
func (w *Expander) kill(s []uint32, process int, b budgets) error {
	x := w.X
	next, succ := w.begin(s, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: process, N: 1}}, -1)
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
		if x.Histories != nil {
			next[WordHistory] = w.remember(next[WordHistory], j, x.Histories.Cut).to
		}
	}
	if x.Histories != nil {
		st := w.remember(next[WordHistory], len(x.Slots)+process, x.Histories.Crash[process])
		next[WordHistory] = st.to
		succ.Bad = !st.ok
	}
	w.gone(next, process)
	next[len(next)-1] = budgets{b.crashes - 1, b.stalls, b.losses}.pack()
	w.end(succ, next)
	return nil
}
