//go:build linux && amd64

package tracer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on amd64.
const hugePage = 2 << 20

// Addresses. They are not random, so that equal answers give equal calls; and they are others in each process, as
// they are on a kernel: programs name temporary files after the address of something.

// shiftAddresses moves the heap, the mappings and the stack of a program that stands at its first instruction, each
// by an amount that its pid decides. end is where what the kernel has put on its stack ends: the auxiliary vector,
// which is last.
func (t *thread) shiftAddresses(regs unix.PtraceRegs, end uint64) error {
	stack, err := readFull(t.tid, regs.Rsp, int(end-regs.Rsp))
	if err != nil {
		return err
	}
	pid := uint64(t.p.pid)
	regs.Rsp = regs.Rsp&^(stackUnit-1) - stackShift(t.p.pid)
	if err := writeMem(t.tid, regs.Rsp, stack); err != nil {
		return err
	}
	err = t.inject(regs, func(c *injector) {
		c.regs.R8, c.regs.R9 = ^uint64(0), 0
		const nothing = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_NORESERVE
		// Large mappings stand at multiples of a huge page since Linux 6.7, so that pages alone would not move them.
		c.call(unix.SYS_MMAP, 0, hugePage*(1+pid%127)+pageSize*(1+pid%4093), unix.PROT_NONE, nothing)
		heap := c.call(unix.SYS_BRK, 0)
		c.call(unix.SYS_BRK, heap+pageSize*(1+pid%1019))
		c.call(unix.SYS_PRCTL, unix.PR_SET_TSC, unix.PR_TSC_SIGSEGV)
	})
	if err != nil {
		return fmt.Errorf("its addresses cannot be moved: %w", err)
	}
	return nil
}

// stackUnit is of what the end of the stack is a multiple before it moves: so it does not depend on the length of the
// environment, and neither do names that mkstemp(3) of glibc makes of an address.
const stackUnit = 32 << 10

// stackShift is by how much the stack of a program moves then. Both are less than the 128 KiB that the kernel leaves.
func stackShift(pid int) uint64 { return 16 * (1 + uint64(pid)%1021) }
