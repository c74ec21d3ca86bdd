package fsfake

import "slices"

// A wait is a call in progress that could not be granted at once. It keeps the
// description that it found, whatever becomes of the descriptor meanwhile.
type wait struct {
	task int
	op   Op
	desc descID // 0 for a cell
	turn uint64 // when it began to wait: later than all with a smaller number
	// on is whose record lock it waits to see go. It is nobody's once that has gone and the
	// call can return: granted, or because to wait again would close a cycle.
	on recordOwner
	// behind is what a waiter in flock stands behind, while the machine keeps queues.
	behind predecessor
}

// waiting returns the position of a task's wait, or -1.
func (p *proc) waiting(task int) int {
	for i := range p.waits {
		if p.waits[i].task == task {
			return i
		}
	}
	return -1
}

// block records that a call waits.
func (m *Machine) block(p *proc, t Task, op *Op, id descID) Result {
	p = m.mutProc(p.pid)
	at := 0
	for at < len(p.waits) && p.waits[at].task < t.N {
		at++
	}
	m.turn++
	p.waits = insert(p.waits, at, wait{task: t.N, op: *op, desc: id, turn: m.turn})
	if id != 0 {
		m.mutDesc(id).refs++
	}
	return Result{Blocked: true}
}

// unblock forgets a wait, without giving up its description.
func (m *Machine) unblock(pid, i int) wait {
	p := m.mutProc(pid)
	w := p.waits[i]
	p.waits = remove(p.waits, i)
	return w
}

// mutWait returns a wait for changing. Pointers got earlier for reading are stale.
func (m *Machine) mutWait(pid, i int) *wait {
	p := m.mutProc(pid)
	p.waits = slices.Clone(p.waits) // which may be shared
	return &p.waits[i]
}

// Ready reports whether t can go on with op: false exactly when t is in a blocked call
// that could not be granted, nor fail, now, and no signal has come for its program.
// (One that waits in flock can also go on when it will give up the lock that its description has, and wait on.)
func (m *Machine) Ready(t Task, _ Op) bool {
	p := m.proc(t.Pid)
	if p == nil || m.signalFor(t.Pid) >= 0 {
		return true
	}
	if i := p.waiting(t.N); i >= 0 {
		return m.ready(p, &p.waits[i])
	}
	return true
}

func (m *Machine) ready(p *proc, w *wait) bool {
	return m.grantable(p, w) || m.queues && w.op.Call == CallFlock && w.behind == (predecessor{}) && m.desc(w.desc).flock != 0
}

func (m *Machine) grantable(p *proc, w *wait) bool {
	switch w.op.Call {
	case CallCellWait:
		return p.cell(w.op.Cell) != w.op.Value
	case CallOpenFIFO:
		return m.desc(w.desc).flags&fifoAlone == 0
	case CallTake:
		return m.mayTake(m.desc(w.desc))
	case CallFlock:
		d := m.desc(w.desc)
		mode := flockMode(w.op.Flags)
		return int(d.flock) == mode || !m.flockConflicts(d, mode)
	default:
		return w.on == nobody
	}
}

// resume continues a blocked call.
func (m *Machine) resume(p *proc, i int, op *Op) Result {
	w := &p.waits[i]
	if w.op != *op {
		return unmodelled("%s by a task that is blocked in %s", op.Call, w.op.Call)
	}
	if !m.ready(p, w) {
		return Result{Blocked: true}
	}
	if op.Call == CallFlock {
		return m.finishFlock(p, i)
	}
	got := m.unblock(p.pid, i)
	if op.Call == CallCellWait {
		return Result{}
	}
	var r Result
	switch {
	case op.Call == CallTake:
		m.takeNow(m.desc(got.desc), op.Len, &r)
	case !op.Call.Is(Passes):
		r = fail(m.finishSetlk(p.pid, &got))
		m.lookAgain()
	}
	m.unrefDesc(got.desc)
	return r
}

// Interrupt ends the blocked lock call of a task as a caught signal does, without
// SA_RESTART: the call answers EINTR. A lock that it was converting stays lost. It
// panics when the task is not blocked in a lock call.
func (m *Machine) Interrupt(t Task) Result {
	p := m.proc(t.Pid)
	if p != nil {
		if i := p.waiting(t.N); i >= 0 && p.waits[i].desc != 0 {
			m.unrefDesc(m.unblock(t.Pid, i).desc)
			m.wake(predecessor{waiter: t})
			m.lookAgain()
			m.lookInVain()
			return fail(EINTR)
		}
	}
	panic("fsfake: Interrupt of a task that is in no blocked lock call")
}

// TakeOut takes a task out of the call that it is blocked in, as a caught signal does with SA_RESTART: the
// call has no answer, and is to be made anew. A lock that it was converting stays lost. It does
// nothing to a task that is in no blocked call.
func (m *Machine) TakeOut(t Task) {
	p := m.proc(t.Pid)
	if p == nil {
		return
	}
	i := p.waiting(t.N)
	switch {
	case i < 0:
	case p.waits[i].desc == 0: // a cell
		m.unblock(t.Pid, i)
	default:
		m.Interrupt(t)
	}
}

// Blocked returns the call that a task is blocked in.
func (m *Machine) Blocked(t Task) (Op, bool) {
	if p := m.proc(t.Pid); p != nil {
		if i := p.waiting(t.N); i >= 0 {
			return p.waits[i].op, true
		}
	}
	return Op{}, false
}
