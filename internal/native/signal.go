//go:build linux && amd64

package native

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// A signal that comes for a task that is held comes before its call. The kernel would make the call first, which may
// set a handler for it, because the task stands within the call.

// signalled reports whether a signal has come for a task that it neither blocks nor ignores.
func signalled(tid int) bool {
	var buf [4096]byte
	text, _ := readProc(buf[:], tid, "/status")
	set := func(name string) (signals uint64) {
		_, after, _ := strings.Cut(string(text), "\n"+name+":\t")
		_, _ = fmt.Sscanf(after, "%x", &signals)
		return signals
	}
	return (set("SigPnd")|set("ShdPnd"))&^set("SigBlk")&^set("SigIgn") != 0
}

// again has a task that stands before a call make it anew, once what signals do is done.
func again(tid int) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(tid, &regs); err != nil {
		return err
	}
	regs.Rax, regs.Orig_rax = regs.Orig_rax, ^uint64(0)
	regs.Rip -= 2 // the system call instruction
	return unix.PtraceSetRegs(tid, &regs)
}
