package fsfake

// All that a process can do with the inode numbers that it was shown is compare them with others.
// A search that knows which it will not use again may have the machine forget them, so that
// states which differ in nothing else become one. Both functions are about numbers under
// [InodesCanonical], which are a process's own; under other policies they do nothing.

// forgotten stands in place of an inode whose number is free again.
const forgotten InodeID = 0

// CountsInodes reports whether inode numbers are each process's own, counted as files are shown to it:
// under [InodesCanonical] without [Options.ChildPids].
func (m *Machine) CountsInodes() bool { return m.policy == InodesCanonical && m.childPids == 0 }

// ForgetInodes has a process forget the inode numbers that it was shown, but for those in keep,
// where number n is bit n-1. The next file that it is shown and does not remember gets the lowest
// number that is free. That is right when the process will never use what it forgets: a task has
// ended, or begins another round of a retry loop, to which a round carries nothing over. It does
// nothing for a process whose numbers are pinned.
func (m *Machine) ForgetInodes(pid int, keep uint64) {
	p := m.proc(pid)
	if p == nil || p.pinned {
		return
	}
	keeps := func(i int) bool { return i < 64 && keep>>i&1 == 1 || p.seen[i] == forgotten }
	last, all := len(p.seen), true
	for last > 0 && (!keeps(last-1) || p.seen[last-1] == forgotten) {
		last--
	}
	for i := range last {
		all = all && keeps(i)
	}
	if last == len(p.seen) && all {
		return
	}
	seen := make([]InodeID, last) // never changed in place
	for i := range seen {
		if keeps(i) {
			seen[i] = p.seen[i]
		}
	}
	m.mutProc(pid).seen = seen
}

// PinInodes has a process remember all inode numbers for good: it may have told them to somebody,
// or written them down, and meet them again.
func (m *Machine) PinInodes(pid int) {
	if p := m.proc(pid); p == nil || p.pinned || !m.CountsInodes() {
		return
	}
	m.mutProc(pid).pinned = true
}
