package fsfake

import "slices"

// Local reports whether a call of t commutes with every call that processes of other families ([Options.ChildPids]) can
// make before it, so that no process can tell which comes first. It is asked where nobody is delayed
// ([Machine.LetNobodyDelay]) and nobody looks at processes, such as at the time when a child began. Nothing of t's own
// family may act in between. still: the clock is not moved meanwhile, either. The answer false is always right.
//
// A call that ends the last use of a file is not local: if the file loses its name meanwhile, the order of the two
// decides when its inode number is free.
func (m *Machine) Local(t Task, op Op, still bool) bool {
	p := m.proc(t.Pid)
	if p == nil || len(p.waits) != 0 || !m.timely || m.powerLoss || m.sign != "" || m.childPids == 0 {
		return false
	}
	if _, begun := slices.BinarySearchFunc(m.paces, m.starter(t), comparePace); !begun {
		return false // a process that has begun holds up the sleeps of the others
	}
	switch op.Call {
	case CallDup:
		return true
	case CallForkAs:
		return true
	case CallClose:
		i := p.fdAt(op.FD)
		return i >= 0 && m.keeps(p, p.fds[i], 1)
	case CallExec:
		return m.keepsAll(p, func(f fdesc) bool { return f.cloexec })
	case CallExit:
		return m.keepsAll(p, func(fdesc) bool { return true }) && slices.ContainsFunc(m.procs, func(q *proc) bool {
			return q != p && q.cwd == p.cwd && m.family(q.pid) == m.family(p.pid)
		})
	case CallNow:
		return still
	case CallSleep:
		return still
	}
	return false
}

// keepsAll reports whether closing all descriptors of a process that are chosen gives up nothing.
func (m *Machine) keepsAll(p *proc, chosen func(fdesc) bool) bool {
	for _, f := range p.fds {
		n := int32(0)
		for _, g := range p.fds {
			if g.desc == f.desc && chosen(g) {
				n++
			}
		}
		if chosen(f) && !m.keeps(p, f, n) {
			return false
		}
	}
	return true
}

// keeps reports whether closing n descriptors of what f is open on gives up nothing: others share the description, and
// the process has no record lock on the file, which any close would drop.
func (m *Machine) keeps(p *proc, f fdesc, n int32) bool {
	if f.outside() {
		return true
	}
	d := m.desc(f.desc)
	return d.refs > n && !slices.ContainsFunc(m.inode(d.inode).records, func(r record) bool {
		return r.owner.pid == p.pid
	})
}
