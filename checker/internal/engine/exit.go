package engine

import (
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// The end of a process and of its tasks, and the beginning of those that others start; live and on numbers.

// exitOf is the exit of a process whose programs have ended.
func exitOf(p *scenarios.Property) fsfake.Op {
	if p.KeepsExits {
		return fsfake.Op{Call: fsfake.CallEnd}
	}
	return fsfake.Op{Call: fsfake.CallExit}
}

// kept is a call of a task itself as it is made: an exit is one whose status is kept, where that is asked.
func kept(p *scenarios.Property, op fsfake.Op) fsfake.Op {
	if op.Call == fsfake.CallExit {
		return exitOf(p)
	}
	return op
}

// endsProcess reports whether a task that makes a call itself has no more to do after it. A command does: it sees
// that it has ended.
func endsProcess(sc *scenarios.Scenario, op fsfake.Op) bool {
	return op.Call == fsfake.CallExit || op.Call == fsfake.CallEnd && !sc.External
}

// exits reports whether a's next step is the exit of its process: the first task of a
// process makes it, when the programs of all that have begun have ended.
func (w *World) exits(a *actor) bool {
	if !a.ended || a.task.N != 1 || a.gone || w.sc.Setting.Daemons {
		return false
	}
	for _, b := range w.actors {
		if b.task.Process == a.task.Process && !b.ended && !b.gone {
			return false
		}
	}
	return true
}

// finished reports whether a will never step again.
func (w *World) finished(a *actor) bool { return a.gone || a.ended && !w.exits(a) }

// Finished reports whether nobody of a process will ever step again.
func (w *World) Finished(process int) bool {
	for _, a := range w.actors {
		if a.task.Process == process && !w.finished(a) {
			return false
		}
	}
	return true
}

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
// step is the exit of its process: the first task makes it when all that have begun have ended.
func (w *Expander) status(s []uint32, slot int) (finished, exits bool) {
	n := s[wordNodes+slot] &^ learn.Begun
	if n == learn.Gone {
		return true, false
	}
	if !w.node(slot, n).ended {
		return false, false
	}
	sl := &w.X.Slots[slot]
	if sl.Task.N != 1 || w.X.Sc.Setting.Daemons {
		return true, false
	}
	for j := range w.X.Slots {
		if w.X.Slots[j].process == sl.process {
			m := s[wordNodes+j] &^ learn.Begun
			if !w.node(j, m).ended { // Gone, of a process that runs, has not begun
				return true, false
			}
		}
	}
	return false, true
}

// exit ends a's process: no task of it steps again. What it had begun and what it held ends
// as by a kill.
func (w *World) exit(a *actor) {
	process := a.task.Process
	from, to := len(w.actors), 0
	for _, b := range w.actors {
		if b.task.Process == process {
			from, to = min(from, b.index), b.index+1
			w.gone(b)
		}
	}
	w.History.Exit(from, to, len(w.actors)+process, w.Steps, scenarios.ProcessName(process))
}

// exit is the mirror of world.exit: it takes the tasks of a process out of a state, and
// reports whether the history is still linearizable.
func (w *Expander) exit(next []uint32, process int) bool {
	w.gone(next, process)
	x := w.X
	if x.Histories == nil {
		return true
	}
	key := uint64(next[WordHistory])<<8 | uint64(process)
	st, ok := w.exits[key]
	if !ok {
		st = judged{next[WordHistory], true}
		from, to := x.tasksOf(process)
		if x.Histories.LeavesBehind(st.to, from, to) {
			for j := from; j < to; j++ {
				st = w.remember(st.to, j, x.Histories.Cut)
			}
			st = w.remember(st.to, len(x.Slots)+process, x.Histories.Crash[process])
		}
		w.exits[key] = st
	}
	next[WordHistory] = st.to
	return st.ok
}

// tasksOf returns the slots of a process: from one to before another.
func (x *Space) tasksOf(process int) (from, to int) {
	from = len(x.Slots)
	for j := range x.Slots {
		if x.Slots[j].process == process {
			from, to = min(from, j), j+1
		}
	}
	return from, to
}

// gone takes a task out of the run: its process has ended.
func (w *World) gone(a *actor) {
	a.gone, a.holds = true, nil
	if a.code != nil {
		a.code.Stop()
	}
	if w.marks {
		w.M.UnmarkAll(a.id)
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

// A task that another one of its process starts, live and on numbers. Until then it is as if it were
// not there: nobody waits for it and it takes no step. It is gone, as are the tasks of a process that
// has ended; of a process that runs, whoever is gone has not begun. Which tasks have begun is so in
// the key of a state without being in the machine, and a program's automaton is what it was.

// start begins a task of a's process.
func (w *World) start(a *actor, n int64) {
	for _, b := range w.actors {
		if b.gone && b.task.Process == a.task.Process && int64(b.task.N) == n &&
			!w.sc.Setting.IsHandler(b.task.Process, b.task.N) {
			w.begin(b)
			return
		}
	}
	w.fail("%w", cannotStart(w.sc, a.task, n))
}

// start is the mirror of [World.start].
func (w *Expander) start(next []uint32, slot int, n int64) error {
	x := w.X
	from, to := x.tasksOf(x.Slots[slot].process)
	j := from + int(n) - 1
	if n < 1 || j >= to || next[wordNodes+j] != learn.Gone || j == w.handler(x.Slots[slot].process) {
		return fmt.Errorf("checker: %w", cannotStart(x.Sc, x.Slots[slot].Task, n))
	}
	next[wordNodes+j] = x.automata[j].First()
	begins := x.automata[j].Node(x.automata[j].First()).Begins
	tops := topsOf(&begins)
	if !x.lasts || tops == (opTops{}) {
		return nil
	}
	m, err := w.transition(next[wordMachine], j, x.machines.op(tops))
	next[wordMachine] = m.machine
	return err
}

func cannotStart(sc *scenarios.Scenario, by sched.Task, n int64) error {
	return fmt.Errorf("%s: task %s starts task %d of its process, which is not one that has yet to begin: each can "+
		"be started once, and Setting.Running says which are not there at first", sc.ID, by, n)
}
