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
	d, mode, nonblocking := c.d, flockMode(c.op.Flags), c.op.Flags&LOCK_NB != 0
	if int(d.flock) == mode {
		return
	}
	conflict := m.flockConflicts(d, mode)
	if mode != 0 && !(conflict && nonblocking) {
		if why := m.disturbsWaiters(d, mode, conflict); why != "" {
			*c.r = unmodelled("%s", why)
			return
		}
	}
	switch {
	case !conflict:
		m.setFlock(d.id, mode)
	case nonblocking:
		m.setFlock(d.id, 0)
		c.r.Errno = EAGAIN
	default:
		m.setFlock(d.id, 0)
		*c.r = m.block(c.p, c.t, c.op, d.id)
		m.enqueue(c.t.Pid, m.proc(c.t.Pid).waiting(c.t.N))
	}
	m.lookInVain()
}

// disturbsWaiters says why a call that takes a lock, or waits for it, is not modelled when
// other tasks wait to lock the same description in another mode; empty when it is.
func (m *Machine) disturbsWaiters(d *desc, mode int, waits bool) string {
	for _, p := range m.procs {
		for i := range p.waits {
			w := &p.waits[i]
			if w.op.Call != CallFlock || w.desc != d.id || flockMode(w.op.Flags) == mode {
				continue
			}
			switch {
			case waits:
				return "flock by two tasks that wait to lock one open file description in different modes"
			case mode == LOCK_SH && !m.queues:
				return "flock to share a lock on an open file description that another task waits to lock alone, " +
					"unless the machine was told that the process has several tasks, or forked before there were locks,"
			}
		}
	}
	return ""
}

// conflictsWith reports whether a description's lock and one of a mode for d, a
// description of the same file, cannot be held together.
func (o *desc) conflictsWith(d *desc, mode int) bool {
	return o.inode == d.inode && o.id != d.id && o.flock != 0 && (mode == LOCK_EX || o.flock == LOCK_EX)
}

// flockConflicts reports whether another description's lock stands against mode.
func (m *Machine) flockConflicts(d *desc, mode int) bool {
	if mode == 0 {
		return false
	}
	for _, o := range m.descs {
		if o.conflictsWith(d, mode) {
			return true
		}
	}
	return false
}

// finishFlock goes on with a blocked call: it gets its lock, or gives up the one that its
// description has got meanwhile, and waits on.
func (m *Machine) finishFlock(p *proc, i int) Result {
	w := &p.waits[i]
	d, mode, waiter := m.desc(w.desc), flockMode(w.op.Flags), predecessor{waiter: Task{p.pid, w.task}}
	if !m.grantable(p, w) {
		m.setFlock(d.id, 0)
		m.enqueue(p.pid, i)
		m.lookInVain()
		return Result{Blocked: true}
	}
	id := m.unblock(p.pid, i).desc
	if int(d.flock) != mode {
		m.setFlock(id, mode)
		m.follow(waiter.waiter, id)
	}
	m.wake(waiter)
	m.unrefDesc(id)
	m.lookInVain()
	return Result{}
}

// setFlock gives a description a lock in place of the one that it has. The old one goes
// first, so that those behind it look again.
func (m *Machine) setFlock(id descID, mode int) {
	old := m.desc(id).flock
	if int(old) == mode {
		return
	}
	if old != 0 {
		m.wake(predecessor{lock: id})
	}
	d := m.mutDesc(id)
	if d.flock = uint8(mode); mode != 0 {
		m.turn++
		d.flockTurn = m.turn
	}
	m.version++
}
