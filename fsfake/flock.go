package fsfake

// flock(2) locks belong to the open file description, which keeps its own in a field.

// flockMode returns LOCK_SH, LOCK_EX, or 0 for LOCK_UN; -1 for no valid operation.
func flockMode(how int) int {
	switch how &^ LOCK_NB {
	case LOCK_SH:
		return LOCK_SH
	case LOCK_EX:
		return LOCK_EX
	case LOCK_UN:
		return 0
	}
	return -1
}

// flock is flock(2). Converting a lock is not atomic: the old one is dropped, then the
// new one is asked for, so that a refused or waiting conversion has lost the lock.
func (m *Machine) flock(c *request) {
	d, mode := c.d, flockMode(c.op.Flags)
	if int(d.flock) == mode {
		return
	}
	if mode != 0 && m.flockWaits(d.id) {
		*c.r = unmodelled("flock on an open file description for which another task waits in flock")
		return
	}
	if !m.flockConflicts(d, mode) {
		m.setFlock(d.id, mode)
		return
	}
	m.setFlock(d.id, 0)
	if c.op.Flags&LOCK_NB != 0 {
		c.r.Errno = EAGAIN
		return
	}
	*c.r = m.block(c.p, c.t, c.op, d.id)
}

// flockWaits reports whether a task waits to lock a description. Whatever stood in its way
// and goes, be it only another waiter, makes the kernel try again for it, and each try
// drops the lock that others have meanwhile got for the description.
func (m *Machine) flockWaits(id descID) bool {
	for _, p := range m.procs {
		for i := range p.waits {
			if p.waits[i].op.Call == CallFlock && p.waits[i].desc == id {
				return true
			}
		}
	}
	return false
}

// flockConflicts reports whether another description's lock stands against mode.
func (m *Machine) flockConflicts(d *desc, mode int) bool {
	if mode == 0 {
		return false
	}
	for _, o := range m.descs {
		if o.inode == d.inode && o.id != d.id && o.flock != 0 && (mode == LOCK_EX || o.flock == LOCK_EX) {
			return true
		}
	}
	return false
}

func (m *Machine) setFlock(id descID, mode int) {
	if int(m.desc(id).flock) == mode {
		return
	}
	m.mutDesc(id).flock = uint8(mode)
	m.version++
}
