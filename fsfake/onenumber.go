package fsfake

import (
	"fmt"
	"slices"
)

// Inode numbers of real programs ([Options.ChildPids]): a program may write one down, and another one compares it with
// what it is shown. So a file has one number for all processes. What was there at the start is numbered in the order in
// which it was made. Any other file has the family of processes that has made it in its number, and is numbered when
// somebody looks at it first: the order in which families go on makes no difference then.

const (
	// inoSlot are the bits of an inode's ino that are a number. Those above are the family that has made it, 0 for
	// files of the start.
	inoSlot, inoFamily = 1<<32 - 1, 32
	// familyNumbers is how many numbers the files of one family have.
	familyNumbers = 1_000_000
)

// A numbered is a number that was shown. For which number it is, its place among those of one family says.
type numbered struct {
	family uint64
	// of is the inode; where numbers come back the number that it has there, which later inodes have, too.
	of InodeID
}

// family is the pid of the process that has started a process, directly or not, see [Options.ChildPids].
func (m *Machine) family(pid int) int {
	if m.childPids > 0 && pid >= m.childPids {
		return pid / m.childPids
	}
	return pid
}

// madeBy notes who has made an inode. Process 1 makes what is there at the start.
func (m *Machine) madeBy(p *proc, n *inode) {
	switch family := m.family(p.pid); {
	case m.childPids == 0:
	case family == 1:
		n.ino = m.nextIno
		m.nextIno++
	default:
		n.ino |= uint64(family) << inoFamily
	}
}

// oneNumber is the number of an inode for all processes.
func (m *Machine) oneNumber(n *inode) uint64 {
	family, slot, of := n.ino>>inoFamily, n.ino&inoSlot, m.numberedAs(n)
	if slot > 0 && slot < m.nextIno { // of the start, or such a number has come back
		return slot
	}
	at := len(m.shown)
	for i, s := range m.shown {
		if s.of == of {
			return m.shownAt(i)
		}
		if s.family > family {
			at = min(at, i)
		}
	}
	m.shown = slices.Insert(slices.Clip(m.shown), at, numbered{family, of}) // never changed in place
	m.version++
	m.numbered++
	return m.shownAt(at)
}

// numberedAs is what stands for an inode in the list of numbers that were shown.
func (m *Machine) numberedAs(n *inode) InodeID {
	if m.policy == InodesReuse {
		return InodeID(n.ino & inoSlot)
	}
	return n.shownAs()
}

// shownAt is the number that was shown at a place of the list.
func (m *Machine) shownAt(i int) uint64 {
	first := i
	for first > 0 && m.shown[first-1].family == m.shown[i].family {
		first--
	}
	return m.shown[i].family*familyNumbers + uint64(i-first+1)
}

// appendShown is the part of a machine's key that says which numbers were shown.
func (k *keyer) appendShown(b []byte) []byte {
	b = appendLen(b, len(k.m.shown))
	for _, s := range k.m.shown {
		b = appendUint(b, s.family)
		if k.m.policy == InodesReuse {
			b = appendUint(b, uint64(s.of))
		} else {
			b = k.maybeInode(b, s.of)
		}
	}
	return b
}

// listed are the numbers in a listing that asks for them: of the directory, of the one above and of what is in it,
// separated by blanks. What is real has none.
func (m *Machine) listed(p *proc, dir *inode, names []string) string {
	all := fmt.Sprint(m.inoFor(p, dir), m.inoFor(p, m.inode(dir.parent)))
	for _, name := range names {
		number := uint64(0)
		if id := dir.lookup(name); id != 0 {
			number = m.inoFor(p, m.inode(id))
		}
		all += fmt.Sprint(" ", number)
	}
	return all
}

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
