package fsfake

import "slices"

// A ProcID is what tells two otherwise equal processes apart.
type ProcID struct {
	Pid   int
	Start int64 // start time in clock ticks
}

// Permute gives the process that is ids[i] the identity ids[perm[i]], for all i at
// once; processes that have ended stay ended, under their new identity. What the
// processes have (descriptors, memory, waits, marks) goes with them.
//
// It is for searches that treat interchangeable processes as such. Pids that programs
// have written into files, and POSIX record locks, stay with the old pids: the caller
// must know that there are none.
func (m *Machine) Permute(ids []ProcID, perm []int) {
	to := func(pid int) (ProcID, bool) {
		for i := range ids {
			if ids[i].Pid == pid {
				return ids[perm[i]], true
			}
		}
		return ProcID{}, false
	}
	procs := make([]*proc, len(m.procs))
	for i, p := range m.procs {
		procs[i] = p
		if id, ok := to(p.pid); ok && id.Pid != p.pid {
			c := *p
			c.own, c.pid, c.start = m.owner(), id.Pid, id.Start
			procs[i] = &c
		}
		for j := range p.waits {
			if id, ok := to(p.waits[j].behind.waiter.Pid); ok {
				c := *procs[i]
				c.own, c.waits = m.owner(), slices.Clone(procs[i].waits)
				c.waits[j].behind.waiter.Pid = id.Pid
				procs[i] = &c
			}
		}
	}
	slices.SortFunc(procs, func(a, b *proc) int { return a.pid - b.pid })
	m.procs, m.ownProcs = procs, true
	marks := slices.Clone(m.marks)
	for i := range marks {
		if id, ok := to(marks[i].Task.Pid); ok {
			marks[i].Task.Pid = id.Pid
		}
	}
	slices.SortFunc(marks, compareMark)
	m.marks = marks
	exits := slices.Clone(m.exits)
	for i := range exits {
		if id, ok := to(exits[i].Pid); ok {
			exits[i].Pid = id.Pid
		}
	}
	slices.SortFunc(exits, func(a, b Exit) int { return a.Pid - b.Pid })
	m.mutSeldom().exits = exits
	signals := slices.Clone(m.signals)
	for i := range signals {
		if id, ok := to(signals[i].Pid); ok {
			signals[i].Pid = id.Pid
		}
	}
	slices.SortFunc(signals, compareSignals)
	m.seldom.signals = signals
}
