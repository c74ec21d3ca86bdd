package fsfake

import "reflect"

// A Footprint is what calls have changed in one run of a search: what is not in it, no call ever changes. Machines are
// asked whether calls are local ([Machine.Local]) while it grows, and it remembers what they relied on. The zero value
// is empty.
type Footprint struct {
	changed, relied map[item]bool
	// entries are the names of the entries that are changed, by the number of their directory.
	entries map[uint64][]string
	refuted bool
}

// An item is something that calls look at and change. Files have no identity that lasts: one that was there at the
// start is known by its number, ino, and one that was made later by the name that it has in such a directory.
type item struct {
	ino  uint64
	name string // of an entry of the directory ino, or "" for the file ino itself
	what part
}

// A part is what of a file or of an entry is changed or looked at.
type part uint8

const (
	content  part = iota // what a file holds and stat(2) tells of it; of a directory all but its entries
	rights               // who may open a file, or go through a directory, and where that is
	added                // an entry was made
	removed              // an entry was removed, or stands for another file
	another              // an entry of a directory was changed that had not been before
	children             // which children there are; looking at that counts as a change
	living               // which processes there are, likewise
	signals              // what comes for the family ino
)

// Note adds what a call has made of a machine.
func (f *Footprint) Note(op Op, before, after *Machine) {
	if op.Call == CallProcs || op.Call.Is(Asks) && op.Pid >= before.childPids {
		f.add(item{what: children})
	}
	if op.Call == CallProcs || op.Call.Is(Asks) && op.Pid != 0 {
		f.add(item{what: living})
	}
	if op.Call == CallKill && op.Flags != 0 {
		f.add(item{ino: uint64(before.family(op.Pid)), what: signals})
	}
	if sameSlice(before.inodes, after.inodes) {
		return
	}
	for _, n := range before.inodes {
		to := after.findInode(n.id)
		switch {
		case to == n:
		case before.ofStart(n):
			f.note(n, to)
		default:
			f.noteMade(before, n, to)
			f.noteMade(after, n, to)
		}
	}
}

// movedTo reports whether a file has other rights, or another place.
func (n *inode) movedTo(to *inode) bool {
	return n.mode != to.mode || n.uid != to.uid || n.gid != to.gid || n.parent != to.parent || to.nlink == 0
}

// ofStart reports whether a file was there at the start.
func (m *Machine) ofStart(n *inode) bool {
	return n.ino>>inoFamily == 0 && n.ino > 0 && n.ino < m.nextIno
}

// differs reports whether a file is another one to programs that read it or look at it. Record locks make no
// difference.
func (n *inode) differs(to *inode) bool {
	was := *n
	was.own, was.records = to.own, to.records
	return !reflect.DeepEqual(&was, to)
}

// noteMade adds what has become of a file that was made later, by its names; nil: it is gone.
func (f *Footprint) noteMade(m *Machine, n, to *inode) {
	m.entriesOf(n.id, func(dir *inode, name string) {
		if to == nil || n.differs(to) {
			f.add(item{dir.ino, name, content})
		}
		if to == nil || n.movedTo(to) {
			f.add(item{dir.ino, name, rights})
		}
	})
}

// entriesOf calls each with every entry of directories of the start that stands for a file.
func (m *Machine) entriesOf(id InodeID, each func(dir *inode, name string)) {
	for _, d := range m.inodes {
		if d.kind != KindDir || !m.ofStart(d) {
			continue
		}
		for _, e := range d.names {
			if e.id == id {
				each(d, e.name)
			}
		}
	}
}

// note adds what has become of a file of the start; nil: it is gone.
func (f *Footprint) note(n, to *inode) {
	if to == nil || n.movedTo(to) {
		f.add(item{ino: n.ino, what: rights})
	}
	if to == nil || sameSlice(n.names, to.names) && n.differs(to) {
		f.add(item{ino: n.ino})
	}
	if to == nil {
		return
	}
	was, is := n.names, to.names
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(was) > 0 && len(is) > 0 && was[0] == is[0]:
			was, is = was[1:], is[1:]
		case len(is) == 0 || len(was) > 0 && was[0].name <= is[0].name:
			f.entry(n, was[0].name, removed)
			was = was[1:]
		default:
			f.entry(n, is[0].name, added)
			is = is[1:]
		}
	}
}

func (f *Footprint) entry(dir *inode, name string, what part) {
	if f.changed[item{dir.ino, name, added}] || f.changed[item{dir.ino, name, removed}] {
		f.add(item{dir.ino, name, what})
		return
	}
	f.add(item{dir.ino, name, what})
	f.add(item{ino: dir.ino, what: another})
	if f.entries == nil {
		f.entries = map[uint64][]string{}
	}
	f.entries[dir.ino] = append(f.entries[dir.ino], name)
}

func (f *Footprint) add(i item) {
	if f.changed == nil {
		f.changed = map[item]bool{}
	}
	f.changed[i] = true
	f.refuted = f.refuted || f.relied[i]
}

// Rely begins to remember anew what [Machine.Local] relies on.
func (f *Footprint) Rely() { f.relied, f.refuted = map[item]bool{}, false }

// Refuted reports whether something has been changed that [Machine.Local] had relied on.
func (f *Footprint) Refuted() bool { return f.refuted }
