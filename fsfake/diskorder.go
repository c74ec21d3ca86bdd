package fsfake

import (
	"maps"
	"slices"
)

// Names on a disk that keeps them in one order.

// A change is one of a name that may not be on the disk yet, where all names change in one order.
type change struct {
	at   int // changes with the same number happen at once
	dir  InodeID
	name string
	old  InodeID // what it stood for; 0 for nothing
	// moved, unless 0, is the file that was renamed over another by that, when it was so long.
	moved InodeID
	size  int
}

// log notes what was changed of the names of a directory.
func (m *Machine) log(d *inode, old []name) {
	at := 1
	if n := len(m.journal); n > 0 {
		at += m.journal[n-1].at
	}
	m.journal = slices.Clone(m.journal)
	add := func(s string, was InodeID) {
		m.journal = append(m.journal, change{at: at, dir: d.id, name: s, old: was})
	}
	for _, e := range old {
		if d.lookup(e.name) != e.id {
			add(e.name, e.id)
		}
	}
	before := inode{names: old}
	for _, e := range d.names {
		if before.lookup(e.name) == 0 {
			add(e.name, 0)
		}
	}
}

// atOnce makes one change of those of the journal from a place on. moved is 0, or a file that was renamed over another.
func (m *Machine) atOnce(from int, moved InodeID) {
	for i := from; i < len(m.journal); i++ {
		c := &m.journal[i]
		if c.at = m.journal[from].at; moved != 0 && m.disk.rules().allocates {
			c.moved, c.size = moved, len(m.inode(moved).data)
		}
	}
}

// commit keeps the names that fsync of an inode keeps.
func (m *Machine) commit(id InodeID) {
	r := m.disk.rules()
	m.ahead(id)
	last := 0
	for _, c := range m.journal {
		if c.dir == id || c.old == id || m.inode(c.dir).lookup(c.name) == id {
			last = c.at
		}
	}
	if last == 0 {
		return
	}
	var left []change
	alone := r.alone && !m.movedOut(id)
	for _, c := range m.journal {
		kept := c.at <= last
		if alone {
			kept = c.dir == id || m.inode(c.dir).lookup(c.name) == id
		}
		if !kept {
			left = append(left, c)
		} else if c.moved != 0 {
			m.allocated(c.moved, c.size)
		}
	}
	m.journal = left
}

// movedOut reports whether something was renamed from a directory into another one, and may be lost there. btrfs keeps
// all names then, for it would be lost in both.
func (m *Machine) movedOut(dir InodeID) bool {
	for _, c := range m.journal {
		for _, d := range m.journal {
			if c.dir == dir && d.at == c.at && d.dir != dir && c.old != 0 && m.inode(d.dir).lookup(d.name) == c.old {
				return true
			}
		}
	}
	return false
}

// ahead: what is kept with an inode may be there before all else that changed, where a disk does not keep names in
// order: changes of its names, all changes that happened at once with one, and earlier ones of the same name.
func (m *Machine) ahead(id InodeID) {
	moves := make([]bool, len(m.journal))
	for more := m.disk.rules().alone; more; {
		more = false
		for i, c := range m.journal {
			is := c.old == id || m.inode(c.dir).lookup(c.name) == id
			for j, d := range m.journal {
				is = is || moves[j] && (d.at == c.at || i < j && d.dir == c.dir && d.name == c.name)
			}
			more = more || is && !moves[i]
			moves[i] = moves[i] || is
		}
	}
	if !slices.Contains(moves, true) {
		return
	}
	var out []change
	for _, first := range []bool{true, false} {
		last := 0 // of no change
		for i, c := range m.journal {
			if moves[i] != first {
				continue
			}
			at := 1
			if n := len(out); n > 0 && c.at == last {
				at = out[n-1].at
			} else if n > 0 {
				at = out[n-1].at + 1
			}
			last, c.at = c.at, at
			out = append(out, c)
		}
	}
	m.journal = out
}

// shrink: a file that was renamed over another has become shorter since.
func (m *Machine) shrink(id InodeID, size int) {
	for i, c := range m.journal {
		if c.moved == id && c.size > size {
			m.journal = slices.Clone(m.journal)
			m.journal[i].size = size
		}
	}
}

// allocated: a file has at least a size on the disk from now on, whatever its contents are.
func (m *Machine) allocated(id InodeID, size int) {
	n := m.inode(id)
	if n.unsynced == nil {
		return
	}
	u := *n.unsynced
	u.data = nil
	for _, v := range n.unsynced.data {
		if len(v) < size {
			v = padded(v, 0, size)
		}
		u.keep(v, n.data)
	}
	n = m.mutInode(id)
	m.setOldData(n, &u)
}

// A namesAt is what the names of directories are when the last changes of the journal are lost.
type namesAt struct {
	of    *Machine
	names map[InodeID][]name // of directories that had others
	least map[InodeID]int    // sizes of files that were renamed over others
}

// cuts lists the names that a disk in one order may have, what programs saw first. On another disk every directory has
// versions of its own: there is one cut, without names.
func (m *Machine) cuts() []namesAt {
	least := map[InodeID]int{}
	for _, c := range m.journal {
		if c.moved != 0 {
			least[c.moved] = max(least[c.moved], c.size)
		}
	}
	out := []namesAt{{m, map[InodeID][]name{}, least}}
	for i := len(m.journal) - 1; i >= 0; {
		last := out[len(out)-1]
		next := namesAt{m, maps.Clone(last.names), map[InodeID]int{}}
		for at := m.journal[i].at; i >= 0 && m.journal[i].at == at; i-- {
			c := m.journal[i]
			names, ok := next.names[c.dir]
			if !ok {
				names = m.inode(c.dir).names
			}
			d := inode{names: names}
			switch k, there := d.find(c.name); {
			case there && c.old == 0:
				names = remove(names, k)
			case there:
				names = slices.Clone(names)
				names[k].id = c.old
			case c.old != 0:
				names = insert(names, k, name{c.name, c.old})
			}
			next.names[c.dir] = names
		}
		for _, c := range m.journal[:i+1] {
			if c.moved != 0 {
				next.least[c.moved] = max(next.least[c.moved], c.size)
			}
		}
		out = append(out, next)
	}
	return out
}
