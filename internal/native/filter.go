//go:build linux && amd64

package native

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/sys/unix"
)

// trace makes a process that stands at its first instruction stop before the calls of the table, and all that it
// starts.
func trace(pid int) error {
	const options = unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEEXEC |
		unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return err
	}
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return err
	}
	rip := uintptr(regs.Rip)
	var was [2]byte
	if _, err := unix.PtracePeekText(pid, rip, was[:]); err != nil {
		return err
	}
	if _, err := unix.PtracePokeText(pid, rip, []byte{0x0f, 0x05}); err != nil { // syscall
		return err
	}
	program := filter()
	at := (regs.Rsp - 8192) &^ 15
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(program)/8))
	head = binary.LittleEndian.AppendUint64(head, at+16)
	if _, err := unix.PtracePokeData(pid, uintptr(at), append(head, program...)); err != nil {
		return err
	}
	for _, call := range [][4]uint64{
		{unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0},
		{unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, at},
	} {
		if err := inject(pid, regs, call); err != nil {
			return fmt.Errorf("seccomp: %w", err)
		}
	}
	if _, err := unix.PtracePokeText(pid, rip, was[:]); err != nil {
		return err
	}
	return unix.PtraceSetRegs(pid, &regs)
}

// inject makes a call in a process that stands before a syscall instruction.
func inject(pid int, regs unix.PtraceRegs, call [4]uint64) error {
	regs.Rax, regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8 = call[0], call[1], call[2], call[3], 0, 0
	regs.Orig_rax = ^uint64(0)
	if err := unix.PtraceSetRegs(pid, &regs); err != nil {
		return err
	}
	if err := unix.PtraceSingleStep(pid); err != nil {
		return err
	}
	var ws unix.WaitStatus
	if _, err := unix.Wait4(pid, &ws, unix.WALL, nil); err != nil {
		return err
	}
	if err := unix.PtraceGetRegs(pid, &regs); err != nil {
		return err
	}
	if e := int64(regs.Rax); e < 0 {
		return unix.Errno(-e)
	}
	return nil
}

// filter is the program of the filter: calls of the table of this architecture stop, others go on.
func filter() []byte {
	var out []byte
	add := func(code uint16, jt, jf uint8, k uint32) {
		out = binary.LittleEndian.AppendUint16(out, code)
		out = binary.LittleEndian.AppendUint32(append(out, jt, jf), k)
	}
	const load, equal, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K,
		unix.BPF_RET | unix.BPF_K
	add(load, 0, 0, 4)
	add(equal, 1, 0, unix.AUDIT_ARCH_X86_64)
	add(give, 0, 0, unix.SECCOMP_RET_ALLOW)
	add(load, 0, 0, 0)
	const firstArgument = 16
	// A mapping of memory is of no file, and one that denies writing, in name only, of a library.
	add(equal, 0, 7, unix.SYS_MMAP)
	add(load, 0, 0, firstArgument+8*4)
	add(equal, 0, 1, 1<<32-1)
	add(give, 0, 0, unix.SECCOMP_RET_ALLOW)
	add(load, 0, 0, firstArgument+8*3)
	add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, unix.MAP_DENYWRITE)
	add(give, 0, 0, unix.SECCOMP_RET_ALLOW)
	add(load, 0, 0, 0)
	for _, nr := range slices.Sorted(maps.Keys(table)) {
		add(equal, 0, 1, uint32(nr))
		add(give, 0, 0, unix.SECCOMP_RET_TRACE)
	}
	add(give, 0, 0, unix.SECCOMP_RET_ALLOW)
	return out
}
