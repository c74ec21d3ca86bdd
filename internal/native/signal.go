//go:build linux && amd64

package native

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A signal that comes for a task that is held comes before its call. The kernel would make the call first, which may
// set a handler for it, because the task stands within the call.

// signalled reports whether a signal has come for a task that it neither blocks nor ignores.
func signalled(tid int) bool {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", tid))
	if err != nil {
		return false
	}
	defer f.Close()
	sets := map[string]uint64{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, set, ok := strings.Cut(lines.Text(), ":\t"); ok && strings.HasPrefix(name, "S") {
			sets[name], _ = strconv.ParseUint(set, 16, 64)
		}
	}
	return (sets["SigPnd"]|sets["ShdPnd"])&^sets["SigBlk"]&^sets["SigIgn"] != 0
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
