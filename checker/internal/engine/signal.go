package engine

import (
	"lockpick/checker/internal/learn"
	"lockpick/sched"
)

// Signals, live and on numbers. The handler of a process is its last task, which is not there until a
// signal comes (see exit.go), and which another signal begins anew when it has ended. While it runs
// the first task of the process makes no step. What that waits in is given up at once and made anew
// when the handler has ended, as the kernel does with SA_RESTART: so it is in nobody's way meanwhile, and
// has no place in a queue. What begins with that call has begun all the same.

// handler is the signal handler of a process, or nil.
func (w *World) handler(process int) *actor {
	if !w.sc.Setting.Handles(process) {
		return nil
	}
	for _, a := range w.actors {
		if a.task.Process == process && w.sc.Setting.IsHandler(process, a.task.N) {
			return a
		}
	}
	return nil
}

// first is the first task of a process.
func (w *World) first(process int) *actor {
	for _, a := range w.actors {
		if a.task == (sched.Task{Process: process, N: 1}) {
			return a
		}
	}
	return nil
}

// handles reports whether a handler runs.
func handles(h *actor) bool { return h != nil && !h.gone && !h.ended }

// interrupted reports whether the handler of a's process runs in its place.
func (w *World) interrupted(a *actor) bool {
	return a.task.N == 1 && handles(w.handler(a.task.Process))
}

// signalable reports whether a process lives, has a handler, and that does not run.
func (w *World) signalable(process int) bool {
	h := w.handler(process)
	return h != nil && !handles(h) && !w.first(process).gone
}

// signal begins the handler of a process.
func (w *World) signal(process int) {
	w.signals--
	a, h := w.first(process), w.handler(process)
	w.M.TakeOut(a.id)
	a.blocked = false
	holds, held := h.holds, h.held
	w.begin(h)
	h.holds, h.held = append(holds, h.holds...), held
}

// handler is the slot of the signal handler of a process, or -1.
func (w *Expander) handler(process int) int {
	if !w.X.Sc.Setting.Handles(process) {
		return -1
	}
	_, to := w.X.tasksOf(process)
	return to - 1
}

// handles reports whether a handler runs.
func (w *Expander) handles(s []uint32, slot int) bool {
	if slot < 0 {
		return false
	}
	n := s[wordNodes+slot] &^ learn.Begun
	return n != learn.Gone && !w.node(slot, n).ended
}

// interrupted is the mirror of [World.interrupted].
func (w *Expander) interrupted(s []uint32, slot int) bool {
	return w.X.Slots[slot].Task.N == 1 && w.handles(s, w.handler(w.X.Slots[slot].process))
}

// signalable is the mirror of [World.signalable].
func (w *Expander) signalable(s []uint32, process int) bool {
	h := w.handler(process)
	if h < 0 || w.handles(s, h) {
		return false
	}
	first, _ := w.X.tasksOf(process)
	return s[wordNodes+first] != learn.Gone
}

// signal is the mirror of [World.signal].
func (w *Expander) signal(s []uint32, process int, b budgets) error {
	x := w.X
	first, _ := x.tasksOf(process)
	b.signals--
	next, succ := w.begin(s, sched.Choice{Action: sched.Signal, Task: sched.Task{Process: process, N: 1}}, -1)
	m, err := w.transition(s[wordMachine], first, x.special.interrupt)
	if err != nil {
		return err
	}
	h := w.handler(process)
	next[wordMachine], next[wordNodes+h] = m.machine, x.automata[h].First()
	next[len(next)-1] = b.pack()
	w.end(&succ, next)
	return nil
}
