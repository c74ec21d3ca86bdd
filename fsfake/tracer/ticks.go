//go:build linux && amd64

package tracer

import (
	"bytes"

	"golang.org/x/sys/unix"
)

// The time stamp counter of the CPU is read without a call: by the loader, which keeps how long it has taken in its
// memory. It would tell two runs apart that do the same. So it traps, and counts how often it was read.

// mostTicks is how often an image may read it until it is left to the CPU: what the process remembers is not summed
// up then.
const mostTicks = 64

// ticks answers the instruction at which a thread has trapped, and reports whether it was one that reads the counter.
func (t *thread) ticks(sig unix.Signal) bool {
	var regs unix.PtraceRegs
	if sig != unix.SIGSEGV || t.p.ticks > mostTicks || unix.PtraceGetRegs(t.tid, &regs) != nil {
		return false
	}
	was := regs.Rip
	code, err := readFull(t.tid, was, 3)
	switch {
	case err != nil:
		return false
	case bytes.HasPrefix(code, []byte{0x0f, 0x31}): // rdtsc
		regs.Rip += 2
	case bytes.Equal(code, []byte{0x0f, 0x01, 0xf9}): // rdtscp
		regs.Rip, regs.Rcx = regs.Rip+3, 0
	default:
		return false
	}
	if t.p.ticks++; t.p.ticks > mostTicks {
		regs.Rip = was
		err = t.inject(regs, func(c *injector) { c.call(unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_ENABLE) })
	} else {
		regs.Rax, regs.Rdx = uint64(t.p.ticks)<<10, 0
		err = unix.PtraceSetRegs(t.tid, &regs)
	}
	if err == nil {
		t.goOn(unix.PTRACE_CONT)
	}
	return err == nil
}
