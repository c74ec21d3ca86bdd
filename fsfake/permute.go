package fsfake

import (
	"slices"
	"strconv"
)

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
// must know that there are none, or rename them ([Renaming.Machine]).
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
}

// A Renaming gives processes each other's identities, in what they say and are told as well: wherever a text
// has the pid of one as a whole number in decimal, it is that of the other.
type Renaming struct {
	ids  []ProcID
	perm []int
	text map[string]string
	pids map[int]int
}

// NewRenaming returns the renaming in which the process that is ids[i] becomes ids[perm[i]]. All pids must have the same
// number of digits, so that no text becomes longer; if they have not, ok is false.
func NewRenaming(ids []ProcID, perm []int) (r Renaming, ok bool) {
	r, ok = Renaming{ids: ids, perm: perm, text: map[string]string{}, pids: map[int]int{}}, true
	for i, id := range ids {
		from, to := strconv.Itoa(id.Pid), strconv.Itoa(ids[perm[i]].Pid)
		ok = ok && len(from) == len(to)
		r.text[from], r.pids[id.Pid] = to, ids[perm[i]].Pid
	}
	return r, ok
}

// Text renames the pids in a text: its longest runs of digits.
func (r *Renaming) Text(s string) string {
	var b []byte
	for i := 0; i < len(s); {
		digits := i
		for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
			digits++
		}
		if to, is := r.text[s[i:digits]]; is && to != s[i:digits] {
			if b == nil {
				b = []byte(s)
			}
			copy(b[i:], to)
		}
		i = max(digits, i+1)
	}
	if b == nil {
		return s
	}
	return string(b)
}

// Op renames the pids in a call: whom kill(2) asks about, what is written, the target of a symlink.
// ok is false where a call has to do with pids otherwise: it names a file after one, or shows one
// in a way of its own, or leaves a value in a cell.
func (r *Renaming) Op(op Op) (to Op, ok bool) {
	to = op
	to.Data = r.Text(op.Data)
	ok = !op.Call.IsCell() && (!op.Call.ShowsPid() || op.Call == CallKill) && r.Text(op.Path) == op.Path
	if op.Call == CallSymlink {
		to.Path2 = r.Text(op.Path2)
	}
	if pid, is := r.pids[op.Pid]; is {
		to.Pid = pid
	}
	return to, ok && (op.Call == CallSymlink || r.Text(op.Path2) == op.Path2)
}

// Result renames the pids in what was read.
func (r *Renaming) Result(of Result) Result {
	of.Data = r.Text(of.Data)
	return of
}

// Machine is [Machine.Permute] with the pids that were written into files and symlinks. ok is false
// where a file is named after one.
func (r *Renaming) Machine(m *Machine) (ok bool) {
	m.Permute(r.ids, r.perm)
	ok = true
	for _, n := range slices.Clone(m.inodes) {
		for i := range n.names {
			ok = ok && r.Text(n.names[i].name) == n.names[i].name
		}
		if to := r.Text(n.data); to != n.data {
			m.mutInode(n.id).data = to
		}
	}
	return ok
}
