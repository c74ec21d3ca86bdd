package fsfake

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"
)

// A request is a call on its way.
type request struct {
	p  *proc
	t  Task
	at int   // where FD stands in the table of descriptors, when the call is by descriptor
	d  *desc // what it is open on; nil of a standard stream
	op *Op
	r  *Result // where the answer goes; zero at first
}

// fails notes the error number of a call, if there is one.
func (c *request) fails(e syscall.Errno) {
	if e != 0 {
		c.r.Errno = e
	}
}

func fail(e syscall.Errno) Result { return Result{Errno: e} }

func unmodelled(format string, args ...any) Result {
	return Result{Unmodelled: fmt.Sprintf(format, args...) + " is not modelled"}
}

// Do carries out one system call of task t, atomically.
//
// A call that has to wait answers Blocked. It has begun then: a lock that it converts
// is gone, and the task counts as waiting. The same call made again by the same task
// continues it; [Machine.Ready] says when that has an effect. Who waits longest has
// no precedence.
func (m *Machine) Do(t Task, op Op) (r Result) {
	p := m.proc(t.Pid)
	if p == nil {
		return unmodelled("%s by process %d, which does not run,", op.Call, t.Pid)
	}
	if m.syncing != 0 {
		m.finishSync()
	}
	if r, is := m.signalled(t, &op); is {
		return r
	}
	if len(m.punctual) != 0 || m.timely {
		until := int64(0)
		if op.Call == CallSleep && op.Time > 0 {
			until = m.clock + op.Time
		}
		m.paced(t, until)
	}
	if m.lasts {
		return m.inTime(p, t, &op)
	}
	return m.do(p, t, &op)
}

// do carries out a call that takes no time.
func (m *Machine) do(p *proc, t Task, op *Op) (r Result) {
	if len(p.waits) != 0 {
		if i := p.waiting(t.N); i >= 0 {
			return m.resume(p, i, op)
		}
	}
	var c request // set field by field: a literal would be copied
	c.p, c.t, c.op, c.r = p, t, hide(op), hide(&r)
	m.call(hide(&c))
	return r
}

// call starts a system call. Its answer goes to c.r: a Result is large, and most answers
// are an error number or little more.
//
// It must not become a part of [Machine.do] (as builds with a profile would have it): c is a number
// there, as [hide] made it, which the growth of the stack within the call would leave behind.
//
//go:noinline
func (m *Machine) call(c *request) {
	k, op := c.op.Call.row(), c.op
	m.stamped = false
	if k.do == nil {
		*c.r = unmodelled("%s", op.Call)
		return
	}
	if extra := op.operands() &^ k.uses; extra != 0 {
		*c.r = unmodelled("%s with %s, which it does not use,", op.Call, extra)
		return
	}
	switch k.group {
	case ByName:
		if hasNUL(op.Path) || hasNUL(op.Path2) {
			c.r.Errno = EINVAL // what package syscall says: no such call can be made
			return
		}
	case ByFD:
		if k.first != nil {
			if e, ok := k.first(op); ok {
				c.fails(e)
				return
			}
		}
		if !m.find(c, k.takes) {
			return
		}
	}
	k.do(m, c)
	if c.r.Errno == errBorder {
		*c.r = m.beyondBorder()
	}
}

// find looks up what a call by descriptor works on; false when it may not work on that.
func (m *Machine) find(c *request, takes reach) bool {
	if c.op.Call == CallFsync && c.op.Flags == SyncAll && c.op.FD == -1 {
		return true // sync(2) has no descriptor
	}
	if c.at = c.p.fdAt(c.op.FD); c.at < 0 {
		c.r.Errno = EBADF
		return false
	}
	f := &c.p.fds[c.at]
	if f.outside() {
		if takes != anything {
			*c.r = unmodelled("%s of a standard stream", c.op.Call)
			return false
		}
		return true
	}
	switch c.d = m.desc(f.desc); {
	case c.d.isPath() && takes == files:
		c.r.Errno = EBADF
		return false
	case c.d.isSocket() && takes != anything && c.op.Call != CallListen:
		*c.r = unmodelled("%s of a socket", c.op.Call)
		return false
	}
	return true
}

func hasNUL(path string) bool { return strings.IndexByte(path, 0) >= 0 }

// hide returns p, and hides from the compiler that it does. The compiler does not know what
// the func values of the table do with a request; so it would move the request, the Op and
// the Result to the heap, which would double the cost of most calls. No row keeps a request
// longer than the call lasts.
//
// While x is a number, nothing may move the stack, which would leave x behind: so there is
// no call here, neither one to grow the stack (nosplit) nor the one with which the race
// detector's builds check a conversion (nocheckptr).
//
//go:nosplit
//go:nocheckptr
func hide[T any](p *T) *T {
	x := uintptr(unsafe.Pointer(p))
	return *(**T)(unsafe.Pointer(&x))
}
