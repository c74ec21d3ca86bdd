package fsfake

import (
	"math"
	"slices"
	"syscall"
)

// A record is a lock on a byte range: fcntl(2)'s, owned by a process, or an OFD lock,
// owned by an open file description. On an inode the records of one owner stand
// together in order of their ranges, disjoint, and adjacent ones differ in type;
// owners stand in the order in which they got their first, which F_GETLK shows.
type record struct {
	owner      recordOwner
	typ        int   // F_RDLCK or F_WRLCK
	start, end int64 // both included; no end is math.MaxInt64
}

// A recordOwner is a process or a description; the other field is 0.
type recordOwner struct {
	pid  int
	desc descID
}

// nobody owns no record.
var nobody recordOwner

func (r record) overlaps(o record) bool { return r.start <= o.end && o.start <= r.end }

func (r record) conflicts(o record) bool {
	return r.owner != o.owner && (r.typ == F_WRLCK || o.typ == F_WRLCK) && r.overlaps(o)
}

// rangeOf checks the range of a lock call, as the kernel does.
func rangeOf(owner recordOwner, op *Op) (record, syscall.Errno) {
	r := record{owner: owner, typ: op.Flags, start: op.Off, end: math.MaxInt64}
	switch {
	case r.start < 0:
		return r, EINVAL
	case op.Len > 0:
		if op.Len-1 > math.MaxInt64-r.start {
			return r, EOVERFLOW
		}
		r.end = r.start + op.Len - 1
	case op.Len < 0:
		if r.start+op.Len < 0 {
			return r, EINVAL
		}
		r.start, r.end = r.start+op.Len, r.start-1
	}
	if r.typ != F_RDLCK && r.typ != F_WRLCK && r.typ != F_UNLCK {
		return r, EINVAL
	}
	return r, 0
}

func ownerOf(pid int, op *Op, id descID) recordOwner {
	if op.Call.Is(OfDescription) {
		return recordOwner{desc: id}
	}
	return recordOwner{pid: pid}
}

// setlk is fcntl with F_SETLK, F_SETLKW, F_OFD_SETLK or F_OFD_SETLKW.
func (m *Machine) setlk(p *proc, t Task, d *desc, op *Op, r *Result) {
	owner := ownerOf(p.pid, op, d.id)
	want, e := rangeOf(owner, op)
	switch {
	case e != 0:
		r.Errno = e
		return
	case !d.mayLock(want.typ):
		r.Errno = EBADF
		return
	case want.typ == F_UNLCK:
		m.setRecord(d.inode, want)
		return
	}
	switch c := m.conflict(d.inode, want); {
	case c == nil:
		m.setRecord(d.inode, want)
	case !op.Wait:
		r.Errno = EAGAIN
	case m.deadlocks(owner, c.owner):
		r.Errno = EDEADLK
	default:
		on := c.owner
		*r = m.block(p, t, op, d.id)
		m.mutWait(p.pid, m.proc(p.pid).waiting(t.N)).on = on
		m.lookAgain() // it may hide another task of the process from the search for deadlocks
	}
}

// waitedRange returns what a blocked call asks for.
func waitedRange(pid int, w *wait) (recordOwner, record) {
	owner := ownerOf(pid, &w.op, w.desc)
	r, _ := rangeOf(owner, &w.op) // it was valid when the call began
	return owner, r
}

// mayLock reports whether a description is open in the way that a record lock of a type asks for.
func (d *desc) mayLock(typ int) bool {
	return (typ != F_RDLCK || d.readable()) && (typ != F_WRLCK || d.writable())
}

// finishSetlk ends a blocked call that can be granted, or would deadlock by now.
func (m *Machine) finishSetlk(pid int, w *wait) syscall.Errno {
	owner, r := waitedRange(pid, w)
	id := m.desc(w.desc).inode
	if m.conflict(id, r) != nil {
		return EDEADLK
	}
	if owner.pid != 0 {
		// The descriptor may have been closed meanwhile, and closing drops the
		// process's locks: so it must not get a new one.
		p := m.proc(pid)
		if i := p.fdAt(w.op.FD); i < 0 || p.fds[i].desc != w.desc {
			return EBADF
		}
	}
	m.setRecord(id, r)
	return 0
}

// hasRecords reports whether an owner has a record lock on any inode.
func (m *Machine) hasRecords(owner recordOwner) bool {
	return slices.ContainsFunc(m.inodes, func(n *inode) bool {
		return slices.ContainsFunc(n.records, func(r record) bool { return r.owner == owner })
	})
}

// conflict returns the first lock of another owner that stands against r, or nil.
func (m *Machine) conflict(id InodeID, r record) *record {
	recs := m.inode(id).records
	for i := range recs {
		if recs[i].conflicts(r) {
			return &recs[i]
		}
	}
	return nil
}

// lookAgain does for the waiters of record locks what they do in the kernel when the lock
// that they wait for has gone: each waits for the first of those that are still in its way,
// unless it can return. It is to be called whenever a lock or a waiter has gone.
//
// In the kernel they do so one by one, in no order, and of those who would close a cycle the
// last is told. Here each of them can return with EDEADLK; who does is up to whoever
// schedules, and then the others wait again.
func (m *Machine) lookAgain() {
	for _, p := range m.procs {
		for i := range p.waits {
			if w := &p.waits[i]; w.on != nobody && !m.stillBlocked(p.pid, w) {
				m.mutWait(p.pid, i).on = nobody
			}
		}
	}
	// Those who wait again do so in the order in which they waited before.
	for last := uint64(0); ; {
		pid, i, on := m.nextToWait(last)
		if pid == 0 {
			return
		}
		w := m.mutWait(pid, i)
		last = w.turn
		m.turn++
		w.on, w.turn = on, m.turn
	}
}

// nextToWait finds the first waiter after a turn that waits for nobody yet but has to.
func (m *Machine) nextToWait(after uint64) (pid, i int, on recordOwner) {
	first := m.turn + 1
	for _, p := range m.procs {
		for j := range p.waits {
			w := &p.waits[j]
			if !w.op.Call.isSetlk() || w.on != nobody || w.turn <= after || w.turn >= first {
				continue
			}
			owner := ownerOf(p.pid, &w.op, w.desc)
			if c := m.inTheWay(p.pid, w); c != nobody && !m.deadlocks(owner, c) {
				pid, i, on, first = p.pid, j, c, w.turn
			}
		}
	}
	return pid, i, on
}

// stillBlocked reports whether whom a waiter waits for is still in its way.
func (m *Machine) stillBlocked(pid int, w *wait) bool {
	_, r := waitedRange(pid, w)
	recs := m.inode(m.desc(w.desc).inode).records
	for i := range recs {
		if recs[i].owner == w.on && recs[i].conflicts(r) {
			return true
		}
	}
	return false
}

// inTheWay returns whom a waiter waits for, or has to wait for now.
func (m *Machine) inTheWay(pid int, w *wait) recordOwner {
	if w.on != nobody {
		return w.on
	}
	_, r := waitedRange(pid, w)
	if c := m.conflict(m.desc(w.desc).inode, r); c != nil {
		return c.owner
	}
	return nobody
}

// maxDeadlockSteps is how far the kernel looks for a cycle.
const maxDeadlockSteps = 10

// deadlocks reports whether waiting for blocker would close a cycle of processes that
// wait for each other's record locks. Who waits for an OFD lock is not looked through, for
// no process owns that; nor is a cycle noticed by the description that closes it.
func (m *Machine) deadlocks(owner, blocker recordOwner) bool {
	if owner.pid == 0 {
		return false
	}
	for range maxDeadlockSteps + 1 {
		blocker = m.waitsFor(blocker)
		if blocker == owner || blocker == nobody {
			return blocker == owner
		}
	}
	return false
}

// waitsFor returns whom an owner is waiting for, or nobody. Of several tasks of a process
// that wait, the kernel finds the one that began last.
func (m *Machine) waitsFor(o recordOwner) (on recordOwner) {
	last := uint64(0)
	for _, p := range m.procs {
		for i := range p.waits {
			w := &p.waits[i]
			if w.turn < last || !w.op.Call.isSetlk() || ownerOf(p.pid, &w.op, w.desc) != o {
				continue
			}
			if c := m.inTheWay(p.pid, w); c.pid != 0 {
				on, last = c, w.turn
			}
		}
	}
	return on
}

// setRecord makes r the owner's lock on its range, or none when r is F_UNLCK: what the
// owner had there is cut, and neighbours of the same type merge.
func (m *Machine) setRecord(id InodeID, r record) {
	old := m.inode(id).records
	at := slices.IndexFunc(old, func(o record) bool { return o.owner == r.owner })
	if at < 0 {
		at = len(old)
	}
	end := at
	var mine []record
	for ; end < len(old) && old[end].owner == r.owner; end++ {
		mine = appendCut(mine, old[end], r)
	}
	if r.typ != F_UNLCK {
		mine = append(mine, r)
		slices.SortFunc(mine, func(a, b record) int {
			if a.start < b.start {
				return -1
			}
			return 1
		})
		mine = merge(mine)
	}
	if slices.Equal(mine, old[at:end]) {
		return
	}
	all := make([]record, 0, len(old)-(end-at)+len(mine))
	all = append(append(append(all, old[:at]...), mine...), old[end:]...)
	m.mutInode(id).records = all
	m.version++
	m.lookAgain()
}

// appendCut appends what of o lies outside r.
func appendCut(to []record, o, r record) []record {
	if !o.overlaps(r) {
		return append(to, o)
	}
	if o.start < r.start {
		left := o
		left.end = r.start - 1
		to = append(to, left)
	}
	if o.end > r.end {
		o.start = r.end + 1
		to = append(to, o)
	}
	return to
}

// merge joins adjacent ranges of one type.
func merge(rs []record) []record {
	out := rs[:1]
	for _, r := range rs[1:] {
		if l := &out[len(out)-1]; l.typ == r.typ && l.end == r.start-1 {
			l.end = r.end
		} else {
			out = append(out, r)
		}
	}
	return out
}

// dropRecords takes away an owner's locks on an inode.
func (m *Machine) dropRecords(id InodeID, o recordOwner) {
	recs := m.inode(id).records
	if !slices.ContainsFunc(recs, func(r record) bool { return r.owner == o }) {
		return
	}
	var rest []record
	for _, r := range recs {
		if r.owner != o {
			rest = append(rest, r)
		}
	}
	m.mutInode(id).records = rest
	m.version++
	m.lookAgain()
}

// getlk is fcntl with F_GETLK or F_OFD_GETLK.
func (m *Machine) getlk(p *proc, d *desc, op *Op, r *Result) {
	owner := ownerOf(p.pid, op, d.id)
	if op.Call == CallGetlk && op.Flags != F_RDLCK && op.Flags != F_WRLCK {
		r.Errno = EINVAL // even before the range is looked at
		return
	}
	want, e := rangeOf(owner, op)
	if e != 0 {
		r.Errno = e
		return
	}
	recs := m.inode(d.inode).records
	for _, o := range recs {
		hit := o.conflicts(want)
		if want.typ == F_UNLCK { // asks a description for its own locks; Linux 6.7 and later
			hit = o.owner == owner && o.overlaps(want)
		}
		if hit {
			r.Lock = o.public()
			switch {
			case p.inside == 0 || r.Lock.Pid <= 0:
			case r.Lock.Pid == p.pid:
				r.Lock.Pid = p.inside
			default:
				r.Lock.Pid = 0 // nobody else has a pid in there
			}
			return
		}
	}
	r.Lock = RecordLock{Type: F_UNLCK, Start: op.Off, Len: op.Len}
}

// public translates a record to what fcntl(2) shows.
func (r record) public() RecordLock {
	l := RecordLock{Type: r.typ, Start: r.start, Pid: r.owner.pid}
	if r.end != math.MaxInt64 {
		l.Len = r.end - r.start + 1
	}
	if r.owner.pid == 0 {
		l.Pid = -1
	}
	return l
}
