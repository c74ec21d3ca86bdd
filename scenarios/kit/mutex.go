package kit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Mutex keeps the tasks of one process apart, threads and those of an event loop, by its name.
// It is a cell that is taken by a compare-and-swap; waiting for it is a step that may block. The
// zero value of its cell is unlocked. A task that is woken may find that another was faster, as
// with sync.Mutex, which promises no order either.
type Mutex struct{ Name string }

func (m Mutex) cell() fsfake.Cell[bool] { return fsfake.Cell[bool]{Name: m.Name} }

// Lock waits until the mutex is free, and takes it.
func (m Mutex) Lock(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next() && !m.TryLock(t); {
		m.cell().Wait(t.Proc, func(taken bool) bool { return !taken })
	}
}

// TryLock takes the mutex if it is free, and reports whether it was.
func (m Mutex) TryLock(t *scenarios.Task) bool { return m.cell().CompareAndSwap(t.Proc, false, true) }

// Unlock gives the mutex back, whoever has it.
func (m Mutex) Unlock(t *scenarios.Task) { m.cell().Store(t.Proc, false) }
