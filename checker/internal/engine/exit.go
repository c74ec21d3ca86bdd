package engine

import "lockpick/checker/internal/learn"

// The end of a process and of its tasks, live and on numbers.

// exits reports whether a's next step is the exit of its process: the first task of a
// process makes it, when the programs of all have ended.
func (w *World) exits(a *actor) bool {
	if !a.ended || a.task.N != 1 || a.gone || w.sc.Setting.Daemons {
		return false
	}
	for _, b := range w.actors {
		if b.task.Process == a.task.Process && !b.ended {
			return false
		}
	}
	return true
}

// finished reports whether a will never step again.
func (w *World) finished(a *actor) bool { return a.gone || a.ended && !w.exits(a) }

// Unfinished reports whether anybody has anything left to do.
func (w *World) Unfinished() bool {
	for _, a := range w.actors {
		if !w.finished(a) {
			return true
		}
	}
	return false
}

// status tells whether the task of a slot is finished, and if not whether its next
// step is the exit of its process: the first task makes it when all have ended.
func (w *Expander) status(s []uint32, slot int) (finished, exits bool) {
	n := s[wordNodes+slot] &^ learn.Begun
	if n == learn.Gone {
		return true, false
	}
	if !w.place(slot, n).ended {
		return false, false
	}
	sl := &w.X.Slots[slot]
	if sl.Task.N != 1 || w.X.Sc.Setting.Daemons {
		return true, false
	}
	for j := range w.X.Slots {
		if w.X.Slots[j].process == sl.process {
			m := s[wordNodes+j] &^ learn.Begun
			if m == learn.Gone || !w.place(j, m).ended {
				return true, false
			}
		}
	}
	return false, true
}

// exit ends a's process: no task of it steps again.
func (w *World) exit(a *actor) {
	for _, b := range w.actors {
		if b.task.Process == a.task.Process {
			w.gone(b)
		}
	}
}

// gone takes a task out of the run: its process has ended.
func (w *World) gone(a *actor) {
	a.gone, a.holding = true, nil
	if a.code != nil {
		a.code.Stop()
	}
	if w.marks {
		w.M.Unmark(a.id)
	}
}

// gone takes the tasks of a process out of a state.
func (w *Expander) gone(next []uint32, process int) {
	for j := range w.X.Slots {
		if w.X.Slots[j].process == process {
			next[wordNodes+j] = learn.Gone
		}
	}
}
