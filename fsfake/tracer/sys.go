//go:build linux && amd64

package tracer

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Requests and reads of ptrace(2) and of other processes' memory. All of ptrace must be called
// from the thread that the processes belong to.

// What the kernel reports about stops; ptrace(2) explains.
const (
	eventOptions = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACESECCOMP | unix.PTRACE_O_TRACECLONE |
		unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEVFORKDONE |
		unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_EXITKILL
	eventStop    = 128 // PTRACE_EVENT_STOP
	syscallStop  = syscall.SIGTRAP | 0x80
	getInfo      = 0x420e // PTRACE_GET_SYSCALL_INFO
	archX86_64   = 0xc000003e
	regOrigRax   = 15 * 8
	regRax       = 10 * 8
	wallNoThread = unix.WALL | unix.WNOTHREAD
)

func ptrace(req, tid int, addr, data uintptr) error {
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, uintptr(req), uintptr(tid), addr, data, 0, 0)
	if e != 0 {
		return e
	}
	return nil
}

// syscallInfo is struct ptrace_syscall_info.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	u    [8]uint64 // entry and seccomp: number, six arguments; exit: result
}

func getSyscallInfo(tid int) (syscallInfo, error) {
	var i syscallInfo
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, getInfo, uintptr(tid), unsafe.Sizeof(i), uintptr(unsafe.Pointer(&i)), 0, 0)
	if e != 0 {
		return i, e
	}
	return i, nil
}

type siginfo struct {
	signo, errno, code int32
	_                  int32
	pid, uid           int32 // or a timer's id and how often it has gone off
	value              [8]byte
	rest               [96]byte
}

func getSiginfo(tid int) (siginfo, error) {
	var s siginfo
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETSIGINFO, uintptr(tid), 0, uintptr(unsafe.Pointer(&s)), 0, 0)
	if e != 0 {
		return s, e
	}
	return s, nil
}

// sendSignal sends a signal to a process, or to a thread of it.
func sendSignal(pid, tid int, info *siginfo) {
	if tid != 0 {
		_, _, _ = unix.Syscall6(unix.SYS_RT_TGSIGQUEUEINFO, uintptr(pid), uintptr(tid), uintptr(info.signo), uintptr(unsafe.Pointer(info)), 0, 0)
		return
	}
	_, _, _ = unix.Syscall(unix.SYS_RT_SIGQUEUEINFO, uintptr(pid), uintptr(info.signo), uintptr(unsafe.Pointer(info)))
}

const pageSize = 4096

// readMem reads n bytes; less when a page is missing, and EFAULT when the first is.
func readMem(pid int, addr uint64, n int) ([]byte, error) {
	b := make([]byte, n)
	got := readInto(pid, addr, b)
	if got == 0 && n > 0 {
		return nil, unix.EFAULT
	}
	return b[:got], nil
}

// readInto is readMem into a buffer, and returns how much that was.
func readInto(pid int, addr uint64, b []byte) (got int) {
	for got < len(b) {
		local := []unix.Iovec{{Base: &b[got]}}
		local[0].SetLen(len(b) - got)
		remote := []unix.RemoteIovec{{Base: uintptr(addr) + uintptr(got), Len: len(b) - got}}
		k, err := unix.ProcessVMReadv(pid, local, remote, 0)
		if err != nil || k <= 0 {
			return got
		}
		got += k
	}
	return got
}

// readFull reads exactly n bytes, or fails with EFAULT.
func readFull(pid int, addr uint64, n int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	b, err := readMem(pid, addr, n)
	if err == nil && len(b) < n {
		err = unix.EFAULT
	}
	return b, err
}

// readString reads bytes up to a NUL, at most limit.
func readString(pid int, addr uint64, limit int) (string, error) {
	var s []byte
	for len(s) < limit {
		n := pageSize - int((addr+uint64(len(s)))%pageSize)
		b, err := readMem(pid, addr+uint64(len(s)), min(n, limit-len(s)))
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(s, b[:i]...)), nil
		}
		s = append(s, b...)
	}
	return "", unix.ENAMETOOLONG
}

func readUint64(pid int, addr uint64) (uint64, error) {
	b, err := readFull(pid, addr, 8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// words are read one after the other, some page of them at a time. After an error all are 0.
type words struct {
	tid int
	at  uint64 // of the next
	b   []byte // of those to come
	err error
}

func (w *words) next() (v uint64) {
	if len(w.b) < 8 && w.err == nil {
		w.b, w.err = readMem(w.tid, w.at, pageSize)
	}
	if len(w.b) < 8 {
		w.err = cmp.Or(w.err, error(unix.EFAULT))
		return 0
	}
	v, w.b, w.at = binary.LittleEndian.Uint64(w.b), w.b[8:], w.at+8
	return v
}

// writeMem writes all of b, or fails with EFAULT.
func writeMem(pid int, addr uint64, b []byte) error {
	if writeSome(pid, addr, b) < len(b) {
		return unix.EFAULT
	}
	return nil
}

// writeSome writes b up to the first page that cannot be written, and returns how much that was.
func writeSome(pid int, addr uint64, b []byte) (done int) {
	for done < len(b) {
		local := []unix.Iovec{{Base: &b[done]}}
		local[0].SetLen(len(b) - done)
		k, err := unix.ProcessVMWritev(pid, local, []unix.RemoteIovec{{Base: uintptr(addr) + uintptr(done),
			Len: len(b) - done}}, 0)
		if err != nil || k <= 0 {
			return done
		}
		done += k
	}
	return done
}

func putUint64s(v ...uint64) []byte {
	b := make([]byte, 0, 8*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}

// quietChildren lets the kernel send this process no SIGCHLD when a child of it merely stops, as
// traced ones do at each call: nobody waits for that signal, and the Go runtime would handle
// each. That children end is told as before.
func quietChildren() error {
	var action struct {
		handler, flags, restorer, mask uint64
	}
	const noChildStop = 1 // SA_NOCLDSTOP
	at := unsafe.Pointer(&action)
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), 0, uintptr(at), 8, 0, 0); e != 0 {
		return fmt.Errorf("tracer: sigaction(SIGCHLD): %w", e)
	}
	if action.flags&noChildStop != 0 {
		return nil
	}
	action.flags |= noChildStop
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGCHLD), uintptr(at), 0, 8, 0, 0); e != 0 {
		return fmt.Errorf("tracer: sigaction(SIGCHLD): %w", e)
	}
	return nil
}
