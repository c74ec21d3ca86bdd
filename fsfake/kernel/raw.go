//go:build linux

package kernel

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The two sides take turns at microseconds' distance, mostly waiting for each other. The
// Go runtime makes preparations for a system call that blocks (another thread is to take
// over), and undoes them afterwards: several switches of threads for each call, which cost
// more than all the rest. Calls made behind its back save that. While such a call blocks
// no garbage can be collected, and nothing else in these processes wants that.

func rawRead(fd int, b []byte) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func rawWrite(fd int, b []byte) (int, error) {
	n, _, e := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

// rawPoll reports whether fd can be read before d has passed.
func rawPoll(fd int, d time.Duration) bool {
	p := unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	ts := unix.NsecToTimespec(int64(d))
	for {
		n, _, e := unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p)), 1, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		if e != unix.EINTR {
			return n > 0 && e == 0
		}
	}
}

// rawFork returns twice, as fork(2); the parent of the child is the caller's. What it is
// good for is said in process.go. spaces are the namespaces that the child has for itself, such as CLONE_NEWPID.
func rawFork(spaces int) (int, error) {
	pid, _, e := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_PARENT|int(unix.SIGCHLD)|spaces), 0, 0, 0, 0, 0)
	if e != 0 {
		return 0, e
	}
	return int(pid), nil
}

func rawFlock(fd, how int) error {
	if _, _, e := unix.RawSyscall(unix.SYS_FLOCK, uintptr(fd), uintptr(how), 0); e != 0 {
		return e
	}
	return nil
}

// rawReadv reads by readv(2), which nobody else here waits in.
func rawReadv(fd int, b []byte) (int, error) {
	v := unix.Iovec{Base: unsafe.SliceData(b), Len: uint64(len(b))}
	n, _, e := unix.RawSyscall(unix.SYS_READV, uintptr(fd), uintptr(unsafe.Pointer(&v)), 1)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

func rawFcntlLock(fd, cmd int, lk *unix.Flock_t) error {
	if _, _, e := unix.RawSyscall(unix.SYS_FCNTL, uintptr(fd), uintptr(cmd), uintptr(unsafe.Pointer(lk))); e != 0 {
		return e
	}
	return nil
}
