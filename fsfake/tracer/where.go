//go:build linux && amd64

package tracer

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer/stack"
)

// Where is the line of the program's source that makes the call which a task asks for; zero when
// it is not known. It costs a look at the stack, and at first a look at the executable.
func (r *Run) Where(task fsfake.Task) (p Place) {
	_ = r.on(func() {
		t := r.asks(task)
		if t == nil || r.err != nil {
			return
		}
		p = t.place()
	})
	return p
}

// place is where a thread makes its call.
func (t *thread) place() Place {
	if p, told := t.scriptLine(); told {
		return p
	}
	var regs unix.PtraceRegs
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(t.p.real) + "/maps")
	if err != nil || unix.PtraceGetRegs(t.tid, &regs) != nil {
		return Place{}
	}
	all := stack.Registers{regs.Rax, regs.Rdx, regs.Rcx, regs.Rbx, regs.Rsi, regs.Rdi, regs.Rbp, regs.Rsp,
		regs.R8, regs.R9, regs.R10, regs.R11, regs.R12, regs.R13, regs.R14, regs.R15, regs.Rip}
	mem := func(addr uint64, n int) ([]byte, error) { return readFull(t.tid, addr, n) }
	if p, ok := t.r.c.Sources.Where(string(maps), all, mem); ok {
		return p
	}
	return t.p.by
}
