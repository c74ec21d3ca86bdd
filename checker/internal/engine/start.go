package engine

import (
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A task that another one of its process starts, live and on numbers. Until then it is as if it were
// not there: nobody waits for it and it takes no step. It is gone, as are the tasks of a process that
// has ended; of a process that runs, whoever is gone has not begun. Which tasks have begun is so in
// the key of a state without being in the machine, and a program's automaton is what it was.

// start begins a task of a's process.
func (w *World) start(a *actor, n int64) {
	for _, b := range w.actors {
		if b.gone && b.task.Process == a.task.Process && int64(b.task.N) == n && !w.sc.Setting.IsHandler(b.task.Process, b.task.N) {
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
	return fmt.Errorf("%s: task %s starts task %d of its process, which is not one that has yet to begin: each can be started once, and Setting.Running says which are not there at first", sc.ID, by, n)
}
