package fsfake

import "math"

// The kernel's queues of those who wait in flock(2).
//
// A waiter stands behind a lock that it cannot have its own beside, or behind another
// waiter for whom the same is true. Only when that has gone does it look again, and to look
// is to make the call anew: a lock of another mode that its description has by then is
// given up first, and may be lost for nothing when the waiter has to wait on.
//
// That shows only where somebody else has got the lock for the waiter's description, and so
// where descriptions are shared: by processes after a fork, by the tasks of a process. Until
// a machine has either, it does not remember who stands behind whom, for that would tell
// apart what no program can.

// A predecessor is what a waiter stands behind: a lock, named by its description, or
// another waiter. Who stands behind nothing is to look again.
type predecessor struct {
	lock   descID
	waiter Task
}

// keepQueues begins to remember who stands behind whom, unless it is too late: where
// several hold a lock, or wait, their order is unknown.
func (m *Machine) keepQueues() {
	if m.queues {
		return
	}
	holders, waiters := map[InodeID]descID{}, map[InodeID]bool{}
	for _, d := range m.descs {
		if d.flock == 0 {
			continue
		}
		if holders[d.inode] != 0 {
			return
		}
		holders[d.inode] = d.id
	}
	for _, p := range m.procs {
		for i := range p.waits {
			if w := &p.waits[i]; w.op.Call == CallFlock {
				id := m.desc(w.desc).inode
				if waiters[id] {
					return
				}
				waiters[id] = true
			}
		}
	}
	m.mutSetup().queues = true
	for _, p := range m.procs {
		for i := range p.waits {
			if w := &p.waits[i]; w.op.Call == CallFlock && !m.grantable(p, w) {
				m.mutWait(p.pid, i).behind = predecessor{lock: holders[m.desc(w.desc).inode]}
			}
		}
	}
}

// enqueue puts a waiter behind the oldest lock in its way, or the last waiter behind that
// lock whom it has to wait for, and has those behind it look again.
func (m *Machine) enqueue(pid, i int) {
	if !m.queues {
		return
	}
	w := m.mutWait(pid, i)
	d, mode := m.desc(w.desc), flockMode(w.op.Flags)
	behind, since := predecessor{}, uint64(0)
	for _, o := range m.descs {
		if o.conflictsWith(d, mode) && (behind.lock == 0 || o.flockTurn < since) {
			behind, since = predecessor{lock: o.id}, o.flockTurn
		}
	}
	for next := behind; next != (predecessor{}); next = m.conflictBehind(next, d.id, mode) {
		behind = next
	}
	m.turn++
	w.behind, w.turn = behind, m.turn
	m.wake(predecessor{waiter: Task{pid, w.task}})
}

// conflictBehind returns the first of those behind a predecessor whose lock and one of a
// mode for another description cannot be held together.
func (m *Machine) conflictBehind(at predecessor, id descID, mode int) predecessor {
	pid, i := m.first(func(_ *proc, w *wait) bool {
		return w.behind == at && w.desc != id && (mode == LOCK_EX || flockMode(w.op.Flags) == LOCK_EX)
	})
	if pid == 0 {
		return predecessor{}
	}
	return predecessor{waiter: Task{pid, m.proc(pid).waits[i].task}}
}

// follow has those behind a waiter stand behind the lock that it has got, in the same order.
func (m *Machine) follow(waiter Task, lock descID) {
	if !m.queues {
		return
	}
	for _, p := range m.procs {
		for i := range p.waits {
			if w := &p.waits[i]; w.behind == (predecessor{waiter: waiter}) {
				m.mutWait(p.pid, i).behind = predecessor{lock: lock}
			}
		}
	}
}

// wake has those behind a predecessor that has gone look again, in the order in which they
// stood there.
func (m *Machine) wake(gone predecessor) {
	for m.queues {
		pid, i := m.first(func(_ *proc, w *wait) bool { return w.behind == gone })
		if pid == 0 {
			return
		}
		w := m.mutWait(pid, i)
		m.turn++
		w.behind, w.turn = predecessor{}, m.turn
	}
}

// lookInVain has the waiters look again who are to, but who will neither get their lock nor
// give one up. They do so at once, in the order in which they were woken; in the kernel they
// do so soon, in any order.
func (m *Machine) lookInVain() {
	for m.queues {
		pid, i := m.first(func(p *proc, w *wait) bool {
			return w.behind == predecessor{} && m.desc(w.desc).flock == 0 && !m.grantable(p, w)
		})
		if pid == 0 {
			return
		}
		m.enqueue(pid, i)
	}
}

// first finds the waiter in flock whose turn it is among those chosen, or pid 0.
func (m *Machine) first(chosen func(*proc, *wait) bool) (pid, i int) {
	turn := uint64(math.MaxUint64)
	for _, p := range m.procs {
		for j := range p.waits {
			if w := &p.waits[j]; w.op.Call == CallFlock && w.turn < turn && chosen(p, w) {
				pid, i, turn = p.pid, j, w.turn
			}
		}
	}
	return pid, i
}
