package fsfake

// Clones share their objects. An object carries the token of the machine that made
// it; only that machine may change it in place. Clone takes the token away from both
// sides, so that each copies what it changes next. A slice inside an object (names,
// descriptors, record locks) is never changed in place at all.

// A token is told apart by its address, so it must not have size zero.
type token struct{ _ byte }

// Clone returns an independent copy of the machine. It is cheap: the two share every
// object until one of them changes it.
func (m *Machine) Clone() *Machine {
	c := new(Machine)
	m.CloneTo(c)
	return c
}

// CloneTo makes c what Clone returns, whatever c was before. A search tries calls out on one
// copy, and keeps a clone only of what is new to it.
func (m *Machine) CloneTo(c *Machine) {
	if m.own != nil { // tested first: cloning a machine that was just cloned writes nothing
		m.own = nil
		m.ownInodes, m.ownDescs, m.ownProcs = false, false, false
	}
	*c = *m
}

// mutSetup returns what the machine is like, for changing it at once: it is the machine's own until it is
// cloned.
func (m *Machine) mutSetup() *setup {
	s := *m.setup
	m.setup = &s
	return &s
}

// mutSeldom is mutSetup for what is seldom changed.
func (m *Machine) mutSeldom() *seldom {
	s := *m.seldom
	m.seldom = &s
	return &s
}

// sameSlice reports whether a and b are one piece of memory.
func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// owner returns this machine's token.
func (m *Machine) owner() *token {
	if m.own == nil {
		m.own = new(token)
	}
	return m.own
}

// inodeAt returns the position of inode id, or of its successor.
func (m *Machine) inodeAt(id InodeID) int {
	lo, hi := 0, len(m.inodes)
	if i := int(id) - 1; i < hi && i >= 0 && m.inodes[i].id == id { // nothing was ever freed
		return i
	}
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.inodes[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// inode returns an inode for reading; it must exist.
func (m *Machine) inode(id InodeID) *inode { return m.inodes[m.inodeAt(id)] }

// findInode returns an inode for reading, or nil.
func (m *Machine) findInode(id InodeID) *inode {
	if i := m.inodeAt(id); i < len(m.inodes) && m.inodes[i].id == id {
		return m.inodes[i]
	}
	return nil
}

// mutInode returns an inode for changing. Pointers got earlier for reading are stale.
func (m *Machine) mutInode(id InodeID) *inode {
	i := m.inodeAt(id)
	n := m.inodes[i]
	if n.own == m.own {
		return n
	}
	c := *n
	c.own = m.owner()
	ownSlice(m, &m.inodes, &m.ownInodes, 0)
	m.inodes[i] = &c
	return &c
}

func (m *Machine) descAt(id descID) int {
	for i, d := range m.descs { // few, and the newest are not the likeliest
		if d.id == id {
			return i
		}
	}
	panic("fsfake: no such open file description")
}

func (m *Machine) desc(id descID) *desc { return m.descs[m.descAt(id)] }

func (m *Machine) mutDesc(id descID) *desc {
	i := m.descAt(id)
	d := m.descs[i]
	if d.own == m.own {
		return d
	}
	c := *d
	c.own = m.owner()
	ownSlice(m, &m.descs, &m.ownDescs, 0)
	m.descs[i] = &c
	return &c
}

// procAt returns the position of a process, or where it would stand.
func (m *Machine) procAt(pid int) int {
	for i, p := range m.procs {
		if p.pid >= pid {
			return i
		}
	}
	return len(m.procs)
}

// proc returns a living process for reading, or nil.
func (m *Machine) proc(pid int) *proc {
	if i := m.procAt(pid); i < len(m.procs) && m.procs[i].pid == pid {
		return m.procs[i]
	}
	return nil
}

func (m *Machine) mutProc(pid int) *proc {
	i := m.procAt(pid)
	p := m.procs[i]
	if p.own == m.own {
		return p
	}
	c := *p
	c.own = m.owner()
	ownSlice(m, &m.procs, &m.ownProcs, 0)
	m.procs[i] = &c
	return &c
}

// ownSlice makes a list of the machine's objects its own, with room for so many more.
func ownSlice[T any](m *Machine, list *[]*T, owned *bool, extra int) {
	if !*owned {
		m.owner()
		s := make([]*T, len(*list), len(*list)+extra)
		copy(s, *list)
		*list, *owned = s, true
	}
}

// insert returns a copy of s with v at i. The copy is what makes it safe to share s.
func insert[T any](s []T, i int, v T) []T {
	r := make([]T, len(s)+1)
	copy(r, s[:i])
	r[i] = v
	copy(r[i+1:], s[i:])
	return r
}

// remove returns a copy of s without its element i.
func remove[T any](s []T, i int) []T {
	if len(s) == 1 {
		return nil
	}
	r := make([]T, len(s)-1)
	copy(r, s[:i])
	copy(r[i:], s[i+1:])
	return r
}
