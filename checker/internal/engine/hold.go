package engine

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Who holds what, and whether it still stands at its name.

func (w *World) hold(a *actor, h scenarios.Holding) {
	a.holding, a.since, w.held = &h, w.Steps+1, w.held || h.Path != ""
	if w.marks && h.Path != "" {
		w.M.Mark(a.id, h.Path, lockObject(w.M, a.id.Pid, h))
	}
}

// lockObject finds the inode that an acquisition acquired.
func lockObject(m *fsfake.Machine, pid int, h scenarios.Holding) fsfake.InodeID {
	if h.FD >= 0 {
		if id, ok := m.FDInode(pid, h.FD); ok {
			return id
		}
	}
	id, _ := m.Lookup(h.Path)
	return id
}

func (w *Expander) isBad(machine uint32) bool {
	bad, ok := w.bads[machine]
	if !ok {
		bad = w.X.machines.isBad(machine)
		w.bads[machine] = bad
	}
	return bad
}
