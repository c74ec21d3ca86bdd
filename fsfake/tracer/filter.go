//go:build linux && amd64

package tracer

import "golang.org/x/sys/unix"

// filter is the seccomp program: harmless calls are let through, every other stops.
//
// Four calls are harmless with some arguments: mmap of no file, mprotect that permits no writes, rt_sigaction that only
// asks, and futex that does not wait. Looking at them is the tracer's, but most of these calls need
// no look.
func filter() []unix.SockFilter {
	const (
		ld   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jeq  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		jset = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
		and  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
		// Offsets in struct seccomp_data.
		nr, arch, arg = 0, 4, 16
	)
	allow := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}
	trace := unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_TRACE}
	op := func(code uint16, k uint32, jt, jf uint8) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: jt, Jf: jf}
	}
	prog := []unix.SockFilter{
		op(ld, arch, 0, 0), op(jeq, archX86_64, 1, 0), trace,
		op(ld, nr, 0, 0),
	}
	for _, s := range calls {
		if s.do == nil {
			prog = append(prog, op(jeq, uint32(s.nr), 0, 1), allow)
		}
	}
	return append(prog,
		op(jeq, unix.SYS_MMAP, 0, 4),
		op(ld, arg+8*3, 0, 0), op(jset, unix.MAP_ANONYMOUS, 0, 1), allow, trace,
		op(jeq, unix.SYS_MPROTECT, 0, 4),
		op(ld, arg+8*2, 0, 0), op(jset, unix.PROT_WRITE, 1, 0), allow, trace,
		op(jeq, unix.SYS_RT_SIGACTION, 0, 6),
		op(ld, arg+8*1, 0, 0), op(jeq, 0, 0, 3), op(ld, arg+8*1+4, 0, 0), op(jeq, 0, 0, 1), allow, trace,
		op(jeq, unix.SYS_FUTEX, 0, 4),
		op(ld, arg+8*1, 0, 0), op(and, 0x7f, 0, 0), op(jeq, 1 /* FUTEX_WAKE */, 0, 1), allow,
		trace,
	)
}
