package fsfake

import (
	"fmt"
	"slices"
	"syscall"
)

// Calls that fail although nothing in the machine stands in their way: the disk is full, the
// medium is bad, a signal was caught. Whoever drives the machine decides which calls do.

// The sets of errors of the table of calls: what depends on things that the machine does not
// have (space, media, permissions that change, a table of locks, signals), in the order of
// their names.
var (
	failsByFD    = []syscall.Errno{EIO}
	failsByName  = []syscall.Errno{EACCES, EIO}
	failsToMake  = []syscall.Errno{EACCES, EIO, ENOSPC}
	failsToWrite = []syscall.Errno{EIO, ENOSPC}
	failsToLock  = []syscall.Errno{EINTR, ENOLCK}
)

// Failing lists the errors with which a call of this kind may fail although nothing in the
// machine stands in its way, in the order of their names. The slice must not be changed.
func (c Call) Failing() []syscall.Errno {
	return c.row().failing
}

// FailingErrnos lists the errors of all calls, in the order of their names.
func FailingErrnos() []syscall.Errno {
	var all []syscall.Errno
	for _, c := range Calls() {
		for _, e := range c.Failing() {
			if !slices.Contains(all, e) {
				all = append(all, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b syscall.Errno) int {
		if ErrnoName(a) < ErrnoName(b) {
			return -1
		}
		return 1
	})
	return all
}

// FailingErrno returns the error of [FailingErrnos] that has a name, such as "EIO".
func FailingErrno(name string) (syscall.Errno, error) {
	var names []string
	for _, e := range FailingErrnos() {
		if ErrnoName(e) == name {
			return e, nil
		}
		names = append(names, ErrnoName(e))
	}
	return 0, fmt.Errorf("fsfake: no call fails with %s: choose one of %v", name, names)
}

// CanFail reports whether a call of a task can fail with an error now: one of
// [Call.Failing], and
//
//   - EINTR: the call would wait; a caught signal ends the wait at once. (A signal that comes
//     later is a call that is made later, as nobody sees that somebody waits.) A call that is
//     waiting already goes on waiting;
//   - ENOSPC: the call would succeed, and it would write, or make a name that is not there;
//   - otherwise: the call would succeed. What would fail anyway fails as it does.
func (m *Machine) CanFail(t Task, op Op, e syscall.Errno) bool {
	if _, waits := m.Blocked(t); waits || !slices.Contains(op.Call.Failing(), e) {
		return false
	}
	after := m.Clone()
	r := after.Do(t, op)
	switch {
	case r.Unmodelled != "":
		return false
	case e == EINTR:
		return r.Blocked
	case r.Errno != 0 || r.Blocked:
		return false
	}
	return e != ENOSPC || after.needsSpace(m, t, &op)
}

// needsSpace reports whether a call that was made on a clone of an earlier machine needs space on
// the disk.
func (m *Machine) needsSpace(before *Machine, t Task, op *Op) bool {
	switch {
	case op.Call == CallOpen:
		return m.nextInode != before.nextInode
	case op.Call.Is(Writes):
		return op.Data != ""
	case op.Call == CallRename:
		// An entry that is there already is used again.
		to, e := before.lookupParent(before.proc(t.Pid), op.Path2)
		w := walker{m: before, p: before.proc(t.Pid)}
		return e == 0 && to.kind == lastName && w.last(&to) == 0 && to.id == 0
	}
	return true
}

// Fail carries out a call of a task that fails with an error, if it can; see
// [Machine.CanFail]. Nothing has happened then, but that
//
//   - close(2) has given the descriptor back, as on Linux, whatever it answers;
//   - a lock that a wait was to convert is gone, as for [Machine.Interrupt].
//
// An fsync(2) of a file that fails with EIO has dropped what was not synced, where the machine knows that
// ([Options.PowerLoss]): the kernel takes it for written, and what is on the disk shows when memory is short. The size
// stays. Any other fsync that fails has synced nothing, and a later one syncs everything.
func (m *Machine) Fail(t Task, op Op, e syscall.Errno) (r Result, ok bool) {
	switch {
	case !m.CanFail(t, op, e):
		return Result{}, false
	case e == EINTR:
		m.Do(t, op)
		return m.Interrupt(t), true
	case op.Call == CallFsync && e == EIO:
		if p := m.proc(t.Pid); op.Flags != SyncAll {
			m.drop(m.desc(p.fds[p.fdAt(op.FD)].desc).inode)
		}
	case op.Call == CallClose:
		m.Do(t, op)
	case len(m.punctual) != 0 || m.timely:
		m.paced(t, 0)
	}
	return fail(e), true
}
