//go:build linux && amd64

package tracer

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// A call is a system call that a thread is about to make.
type call struct {
	nr   int
	spec *spec
	args [6]uint64
	text string // how it reads, when that is more than its numbers
}

// String returns the call as strace(1) would, roughly: names of files as text, the rest as
// numbers.
func (c call) String() string {
	switch {
	case c.text != "":
		return c.text
	case c.spec == nil && c.nr == 0 && c.args == [6]uint64{}:
		return ""
	case c.spec == nil:
		return fmt.Sprintf("system call %d", c.nr)
	}
	var args []string
	for i := range c.spec.args {
		if a := int64(c.args[i]); a < 0 || a > 1<<20 {
			args = append(args, fmt.Sprintf("%#x", c.args[i]))
		} else {
			args = append(args, fmt.Sprint(a))
		}
	}
	return c.spec.name + "(" + strings.Join(args, ", ") + ")"
}

func (c *call) fd(i int) int  { return int(int32(c.args[i])) }
func (c *call) int(i int) int { return int(int32(c.args[i])) }

// called is the stop before a call.
func (t *thread) called() {
	t.r.calls++
	info, err := getSyscallInfo(t.tid)
	if err != nil {
		t.goOn(unix.PTRACE_CONT) // killed meanwhile
		return
	}
	t.c = call{nr: int(info.u[0])}
	copy(t.c.args[:], info.u[1:7])
	t.ties()
	t.subst, t.fakeOnly, t.asked, t.asks, t.heard = nil, false, false, 0, nil
	if info.arch != archX86_64 || t.c.nr&(1<<30) != 0 {
		t.unmodelled("32-bit system calls are not handled")
		return
	}
	if t.c.spec = calls.of(t.c.nr); t.c.spec == nil {
		t.unmodelled("this system call is not handled")
		return
	}
	t.c.spec.do(t, &t.c)
}

// returned is the stop after a real call.
func (t *thread) returned() {
	info, err := getSyscallInfo(t.tid)
	if err != nil {
		t.goOn(unix.PTRACE_CONT)
		return
	}
	ret := int64(info.u[0])
	if t.letting {
		t.came(ret)
	}
	t.blocked = false
	after, expired := t.after, t.expired
	t.after, t.timed, t.expired = nil, false, nil
	t.goOn(unix.PTRACE_CONT)
	if t.regs != nil {
		t.restoreRegs()
	}
	switch ret {
	case -512, -513, -514, -516: // ERESTARTSYS and its relatives
		if t.firing {
			t.firing = false
			expired()
			return
		}
		// A signal has come. The call is made again, or fails with EINTR, without us.
		if ret == -516 {
			t.after, t.expired = after, expired
		}
		return
	}
	t.firing = false
	if after != nil {
		after(ret)
	}
}

// restoreRegs gives a thread its arguments back, which were others for the call.
func (t *thread) restoreRegs() {
	var now unix.PtraceRegs
	if unix.PtraceGetRegs(t.tid, &now) != nil {
		return
	}
	old := t.regs
	t.regs = nil
	now.Rdi, now.Rsi, now.Rdx, now.R10, now.R8, now.R9 = old.Rdi, old.Rsi, old.Rdx, old.R10, old.R8, old.R9
	if int64(now.Orig_rax) >= 0 {
		now.Orig_rax = old.Orig_rax // a restart makes the call that the program made
	}
	_ = unix.PtraceSetRegs(t.tid, &now)
}

// pass lets the call be made.
func (t *thread) pass() { t.goOn(unix.PTRACE_CONT) }

// passThen lets the call be made, and goes on with f when it has returned.
func (t *thread) passThen(f func(ret int64)) {
	t.after = f
	t.goOn(unix.PTRACE_SYSCALL)
}

// passWaiting lets a call be made that may wait for another thread or process.
func (t *thread) passWaiting(f func(ret int64)) {
	t.after = f
	_ = unix.PtraceGetRegs(t.tid, &t.entry)
	t.req = unix.PTRACE_SYSCALL
	t.state = ready
	t.resume()
	t.state = inCall
}

// instead makes another call in place of the one that the program makes. The program finds its
// registers as they were.
func (t *thread) instead(nr int, args ...uint64) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return
	}
	if t.regs == nil {
		saved := regs
		t.regs = &saved
	}
	regs.Orig_rax = uint64(nr)
	for i, a := range args {
		*[]*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10, &regs.R8, &regs.R9}[i] = a
	}
	_ = unix.PtraceSetRegs(t.tid, &regs)
}

// result makes the call return a value without being made.
func (t *thread) result(v int64) {
	if t.through {
		t.really(nil)
		return
	}
	t.letting = false
	_ = ptrace(unix.PTRACE_POKEUSR, t.tid, regOrigRax, ^uintptr(0))
	t.setRax(v)
	t.goOn(unix.PTRACE_CONT)
}

func (t *thread) setRax(v int64) { _ = ptrace(unix.PTRACE_POKEUSR, t.tid, regRax, uintptr(v)) }

// fail makes the call fail without being made.
func (t *thread) fail(e syscall.Errno) {
	if t.p.stand && e != 0 {
		t.fault("the program %s cannot be executed: %v", t.r.c.Argv[0], e)
		return
	}
	t.result(-int64(e))
}

// refuse is fail for what a kernel can do and the fake cannot, where programs have another way: they get
// the error that a kernel or a file system gives which cannot do it either.
func (t *thread) refuse(e syscall.Errno) {
	t.notes(&t.r.refused, t.c.String()+" = "+fsfake.ErrnoName(e))
	t.fail(e)
}

// notes keeps what was refused, once.
func (t *thread) notes(list *[]string, text string) {
	if w := t.r.c.Wrong; !slices.Contains(*list, text) && (w == nil || !w.Silent) {
		*list = append(*list, text)
	}
}

// refuseUnlike is refuse with an answer that no kernel gives, or few: what a program does then shows nothing of what it
// does elsewhere.
func (t *thread) refuseUnlike(e syscall.Errno) {
	t.notes(&t.r.unlike, t.c.String())
	t.refuse(e)
}

// failErr is fail for an error of this package's own reads and writes of memory.
func (t *thread) failErr(err error) {
	if e, ok := err.(syscall.Errno); ok {
		t.fail(e)
		return
	}
	t.fail(unix.EFAULT)
}

// ask waits for the driver's answer to op; f gets it.
func (t *thread) ask(op fsfake.Op, f func(fsfake.Result)) {
	if w := t.r.c.Wrong; w != nil && w.Asks != nil {
		op = w.Asks(op)
	}
	t.state, t.op, t.answer = asking, op, f
	t.asks++
}

// askZero asks, and returns the error or 0 to the program.
func (t *thread) askZero(op fsfake.Op) {
	t.ask(op, func(r fsfake.Result) { t.fail(r.Errno) })
}

// askThen asks, and returns the error to the program or goes on with f.
func (t *thread) askThen(op fsfake.Op, f func(fsfake.Result)) {
	t.ask(op, func(r fsfake.Result) {
		if r.Errno != 0 {
			t.fail(r.Errno)
			return
		}
		f(r)
	})
}

// put writes into the program's memory and returns v, or EFAULT.
func (t *thread) put(addr uint64, b []byte, v int64) {
	if len(b) != 0 && !t.through {
		if err := writeMem(t.tid, addr, b); err != nil {
			t.fail(unix.EFAULT)
			return
		}
	}
	t.result(v)
}
