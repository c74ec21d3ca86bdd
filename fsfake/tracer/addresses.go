//go:build linux && amd64

package tracer

import (
	"fmt"

	"golang.org/x/sys/unix"
)

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
	regs.Rsp -= 16 * (1 + pid%1021) // the kernel leaves 128 KiB
	if err := writeMem(t.tid, regs.Rsp, stack); err != nil {
		return err
	}
	code, err := readFull(t.tid, regs.Rip, 8)
	if err == nil {
		_, err = unix.PtracePokeText(t.tid, uintptr(regs.Rip), append([]byte{0x0f, 0x05}, code[2:]...))
	}
	if err != nil {
		return err
	}
	mask, err := setMask(t.tid, ^uint64(0))
	if err != nil {
		return err
	}
	c := injector{pid: t.tid, regs: regs}
	c.regs.R8, c.regs.R9 = ^uint64(0), 0
	c.call(unix.SYS_MMAP, 0, pageSize*(1+pid%4093), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	heap := c.call(unix.SYS_BRK, 0)
	c.call(unix.SYS_BRK, heap+pageSize*(1+pid%1019))
	if c.err != nil {
		return fmt.Errorf("its addresses cannot be moved: %w", c.err)
	}
	if _, err := unix.PtracePokeText(t.tid, uintptr(regs.Rip), code); err != nil {
		return err
	}
	if _, err := setMask(t.tid, mask); err != nil {
		return err
	}
	return unix.PtraceSetRegs(t.tid, &regs)
}
