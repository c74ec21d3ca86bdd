package fsfake

// WaitsOn returns the inode whose lock a blocked call of a task waits for. It is false
// for a task that is not blocked, and for one that waits for a cell.
func (m *Machine) WaitsOn(t Task) (InodeID, bool) {
	if p := m.proc(t.Pid); p != nil {
		if i := p.waiting(t.N); i >= 0 && p.waits[i].desc != 0 {
			return m.desc(p.waits[i].desc).inode, true
		}
	}
	return 0, false
}

// InTheWay lists whose locks stand against a lock call of a task, be it blocked in the
// call or about to make it: for flock and OFD locks the descriptors of the descriptions
// that hold them, for record locks of a process that process, with -1 for a descriptor.
// It is empty when nothing stands in the way, and for calls that lock nothing.
func (m *Machine) InTheWay(t Task, op Op) []FDRef {
	p := m.proc(t.Pid)
	if p == nil {
		return nil
	}
	d := m.descOf(p, op.FD)
	if i := p.waiting(t.N); i >= 0 && p.waits[i].desc != 0 {
		d = m.desc(p.waits[i].desc)
	}
	if d == nil {
		return nil
	}
	switch {
	case op.Call == CallFlock:
		return m.flocksAgainst(d, flockMode(op.Flags))
	case op.Call.Is(Records):
		return m.recordsAgainst(d, ownerOf(p.pid, &op, d.id), &op)
	}
	return nil
}

func (m *Machine) flocksAgainst(d *desc, mode int) []FDRef {
	var refs []FDRef
	for _, o := range m.descs {
		if o.inode == d.inode && o.id != d.id && o.flock != 0 && (mode == LOCK_EX || mode > 0 && o.flock == LOCK_EX) {
			refs = append(refs, m.holders(o.id)...)
		}
	}
	return refs
}

func (m *Machine) recordsAgainst(d *desc, owner recordOwner, op *Op) []FDRef {
	r, e := rangeOf(owner, op)
	if e != 0 || r.typ == F_UNLCK {
		return nil
	}
	var refs []FDRef
	for _, o := range m.inode(d.inode).records {
		switch {
		case !o.conflicts(r):
		case o.owner.pid != 0:
			refs = append(refs, FDRef{o.owner.pid, -1})
		default:
			refs = append(refs, m.holders(o.owner.desc)...)
		}
	}
	return refs
}
