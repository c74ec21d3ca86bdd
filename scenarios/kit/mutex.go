package kit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Mutex keeps the tasks of one process apart, by its name. It is in a cell, so waiting
// for it is a step that may block. The zero value of its cell is unlocked.
type Mutex struct{ Name string }

func (m Mutex) cell() fsfake.Cell[bool] { return fsfake.Cell[bool]{Name: m.Name} }

// Lock waits until the mutex is free, and takes it.
func (m Mutex) Lock(t *scenarios.Task) {
	m.cell().Wait(t.Proc, func(taken bool) bool { return !taken })
	m.cell().Store(t.Proc, true) // one step with the end of the wait
}

// Unlock gives the mutex back.
func (m Mutex) Unlock(t *scenarios.Task) { m.cell().Store(t.Proc, false) }
