package engine

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Who holds what, and whether it still stands at its name.

// A hold is what a task holds of one lock.
type hold struct {
	scenarios.Holding
	times  int            // how often it was acquired and not released
	since  int            // the step with which the hold began, from 1
	object fsfake.InodeID // what it is of, in a run that is recorded
}

// hold notes that a task holds a lock, and marks the object where an invariant asks for it.
func (w *World) hold(a *actor, h scenarios.Holding) {
	at, found := a.holdOf(h.Lock)
	if !found {
		a.holds = slices.Insert(a.holds, at, hold{})
	}
	a.holds[at] = hold{Holding: h, times: a.holds[at].times + 1, since: w.Steps + 1}
	a.held = withName(a.held, h.Path)
	if w.marks && h.Path != "" {
		w.M.Mark(a.id, h.Lock, h.Path, lockObject(w.M, a.id.Pid, h))
	}
}

// letGo notes that a task holds a lock once less.
func (w *World) letGo(a *actor, lock string) {
	at, found := a.holdOf(lock)
	if !found {
		return
	}
	if a.holds[at].times--; a.holds[at].times == 0 {
		a.holds = slices.Delete(a.holds, at, at+1)
	}
	if w.marks {
		w.M.Unmark(a.id, lock)
	}
}

// holdOf returns the place of a lock among what a task holds.
func (a *actor) holdOf(lock string) (int, bool) {
	return slices.BinarySearchFunc(a.holds, lock, func(h hold, lock string) int { return strings.Compare(h.Lock, lock) })
}

// lockObject finds the inode that an acquisition acquired: the one that the task has open, or
// what stands at the name itself, be it a symlink that leads nowhere.
func lockObject(m *fsfake.Machine, pid int, h scenarios.Holding) fsfake.InodeID {
	if h.FD >= 0 {
		if id, ok := m.FDInode(pid, h.FD); ok {
			return id
		}
	}
	id, _ := m.LookupName(h.Path)
	return id
}

// isBad reports whether the invariant calls a machine broken.
func (w *Expander) isBad(machine uint32) bool {
	bad, ok := w.bads[machine]
	if !ok {
		bad = w.X.machines.isBad(machine)
		w.bads[machine] = bad
	}
	return bad
}

// MachineAtFirst returns the machine on which a scenario starts. An invariant that is
// violated there is a fault of the scenario: there is no schedule to show.
func MachineAtFirst(sc *scenarios.Scenario, p *scenarios.Property) (*fsfake.Machine, error) {
	m, err := sc.Start()
	if err != nil {
		return nil, fmt.Errorf("checker: %w", err)
	}
	if err := sameStart(sc, m); err != nil {
		return nil, err
	}
	if p.Invariant == nil {
		return m, nil
	}
	if said := p.Invariant(scenarios.NewView(m)); said != "" {
		return nil, fmt.Errorf("checker: %s: %s is broken before the first step: %s: look at Setup, or at the invariant", sc.ID, p, said)
	}
	return m, nil
}

// setups is how often a Setup is tried: one that draws lots mostly shows.
const setups = 8

// sameStart reports a Setup that does not make the same machine each time.
func sameStart(sc *scenarios.Scenario, m *fsfake.Machine) error {
	if sc.Setup == nil || sc.External {
		return nil
	}
	want := string(m.AppendKey(nil))
	for range setups {
		again, err := sc.Start()
		if err != nil {
			return fmt.Errorf("checker: %w", err)
		}
		if string(again.AppendKey(nil)) != want {
			return fmt.Errorf("checker: the Setup of %s makes another machine each time: does it range over a map, draw lots, read time.Now, or count?", sc.ID)
		}
	}
	return nil
}
