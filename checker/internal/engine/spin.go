package engine

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A task that goes round over cells without an await never ends its turn: under an event loop
// nothing else of its process can run any more, so nobody can change what it waits for. That is
// a deadlock, whatever other processes do. For other properties it is an error: their verdicts
// would rest on a process that has stopped.

// turnCalls is after how many accesses to cells, without a system call between them, a turn is
// believed to be endless: as many rounds of a retry loop are tried out.
const turnCalls = 10_000

// spunCalls is how many of the calls of such a turn a trace shows.
const spunCalls = 4

// spins is the error for a task that spins on a cell, or nil where that is an answer.
func spins(sc *scenarios.Scenario, p *scenarios.Property, task sched.Task, op fsfake.Op) error {
	if p.Question == scenarios.Stuck {
		return nil
	}
	return fmt.Errorf("checker: task %s of %s goes round over the cell %s without an await, for ever: that blocks the event loop, so nothing else of its process can run, and only the property %s can be asked; let the loop wait for the cell (Cell.Wait), or sleep in each round",
		task, sc.ID, op.Cell, scenarios.Deadlock)
}

// Spins reports whether a task holds up the event loop of its process for ever.
func (w *World) Spins() bool { return w.spins != nil }
