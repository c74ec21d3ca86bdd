//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls that the tracer makes in a program's place.

// getMask tells which signals a stopped thread blocks.
func getMask(tid int) (mask uint64, err error) {
	const getMask = 0x420a // PTRACE_GETSIGMASK
	return mask, ptrace(getMask, tid, 8, uintptr(unsafe.Pointer(&mask)))
}

// setMask sets which signals a stopped thread blocks, and returns which it did.
func setMask(tid int, mask uint64) (was uint64, err error) {
	const setMask = 0x420b // PTRACE_SETSIGMASK
	if was, err = getMask(tid); err != nil {
		return 0, err
	}
	return was, ptrace(setMask, tid, 8, uintptr(unsafe.Pointer(&mask)))
}

// An injector makes calls in a stopped process, which stands before a syscall instruction.
type injector struct {
	pid  int
	regs unix.PtraceRegs
	at   uint64 // memory for what a call writes
	err  error  // the first
}

// inject makes calls in a thread that stands between two instructions, with these registers, which it goes on with.
func inject(tid int, regs unix.PtraceRegs, calls func(*injector)) error {
	var code [8]byte
	if _, err := unix.PtracePeekText(tid, uintptr(regs.Rip), code[:]); err != nil {
		return err
	}
	if _, err := unix.PtracePokeText(tid, uintptr(regs.Rip), append([]byte{0x0f, 0x05}, code[2:]...)); err != nil {
		return err
	}
	mask, err := setMask(tid, ^uint64(0))
	if err != nil {
		return err
	}
	c := injector{pid: tid, regs: regs}
	if calls(&c); c.err != nil {
		return c.err
	}
	if _, err := unix.PtracePokeText(tid, uintptr(regs.Rip), code[:]); err != nil {
		return err
	}
	if _, err := setMask(tid, mask); err != nil {
		return err
	}
	return unix.PtraceSetRegs(tid, &regs)
}

func (c *injector) call(nr int, args ...uint64) uint64 {
	if c.err != nil {
		return 0
	}
	regs := c.regs
	regs.Rax, regs.Orig_rax = uint64(nr), ^uint64(0)
	for i, to := range []*uint64{&regs.Rdi, &regs.Rsi, &regs.Rdx, &regs.R10}[:len(args)] {
		*to = args[i]
	}
	if c.err = unix.PtraceSetRegs(c.pid, &regs); c.err != nil {
		return 0
	}
	ws, err := step(c.pid, unix.PTRACE_SINGLESTEP)
	if err == nil && int(uint32(ws)>>16) == unix.PTRACE_EVENT_SECCOMP {
		ws, err = step(c.pid, unix.PTRACE_SINGLESTEP)
	}
	if err == nil && (ws.StopSignal() != unix.SIGTRAP || uint32(ws)>>16 != 0) {
		err = fmt.Errorf("an unexpected stop, status %#x", uint32(ws))
	}
	if err == nil {
		err = unix.PtraceGetRegs(c.pid, &regs)
	}
	if e := int64(regs.Rax); err == nil && e < 0 && e > -4096 {
		err = fmt.Errorf("call %d: %w", nr, unix.Errno(-e))
	}
	c.err = err
	return regs.Rax
}

// pipe makes a pipe.
func (c *injector) pipe() (reads, writes uint64) {
	if c.call(unix.SYS_PIPE2, c.at, 0); c.err != nil {
		return 0, 0
	}
	var b []byte
	if b, c.err = readFull(c.pid, c.at, 8); c.err != nil {
		return 0, 0
	}
	return uint64(binary.LittleEndian.Uint32(b)), uint64(binary.LittleEndian.Uint32(b[4:]))
}

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
	err = inject(t.tid, regs, func(c *injector) {
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
