//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Ids that the kernel itself writes or reads. It knows the real ones, and the program the virtual ones.

// shown is the virtual id for a real one of a process or thread, or of a group, where it is negative. An id that is not
// of the run stays as it is.
func (r *Run) shown(real int) int {
	if real < 0 {
		return -r.shown(-real)
	}
	if t := r.threads[real]; t != nil {
		return t.vtid()
	}
	if p := r.processOf(real); p != nil {
		return p.pid
	}
	return real
}

// realOf is the reverse of shown. Where the run has no such id, it is one that nobody has: a signal must not reach
// a stranger.
func (r *Run) realOf(id int) int {
	const nobody = 1<<22 + 1 // beyond PID_MAX_LIMIT
	if id <= 0 {
		return -max(r.realOf(-id), 0)
	}
	if real := r.realID(id); real != 0 {
		return real
	}
	if p := r.leader(id); p != nil {
		return p.real
	}
	return nobody
}

// showID puts the virtual id in place of the real one that the kernel has written.
func (t *thread) showID(at uint64) {
	if b, err := readFull(t.tid, at, 4); err == nil {
		t.writeTid(at, t.r.shown(int(int32(binary.LittleEndian.Uint32(b)))))
	}
}

// thenShow makes a call that writes an id to an address.
func (t *thread) thenShow(at uint64) {
	t.passThen(func(ret int64) {
		if ret >= 0 {
			t.showID(at)
		}
	})
}

// hideIDs puts real ids where a call reads them, and returns what puts the virtual ones back.
func (t *thread) hideIDs(at ...uint64) (back func(int64)) {
	old := map[uint64]int{}
	for _, at := range at {
		if b, err := readFull(t.tid, at, 4); err == nil {
			old[at] = int(int32(binary.LittleEndian.Uint32(b)))
			t.writeTid(at, t.r.realOf(old[at]))
		}
	}
	return func(int64) {
		for at, id := range old { // order does not matter: each is put back
			t.writeTid(at, id)
		}
	}
}

// owner is a request of fcntl(2) or ioctl(2) for a real descriptor that tells or asks who gets its signals, or which
// group or session has a terminal. It reports whether it is one.
func (t *thread) owner(fcntl bool) bool {
	at := t.c.args[2]
	switch req := t.c.int(1); {
	case fcntl && req == unix.F_SETOWN:
		t.instead(t.c.nr, t.c.args[0], t.c.args[1], uint64(t.r.realOf(t.c.int(2))))
		t.passThen(nil)
	case fcntl && req == unix.F_GETOWN:
		t.passThen(func(ret int64) { t.setRax(int64(t.r.shown(int(ret)))) })
	case fcntl && req == unix.F_SETOWN_EX:
		t.passThen(t.hideIDs(at + 4))
	case fcntl && req == unix.F_GETOWN_EX:
		t.thenShow(at + 4)
	case fcntl:
		return false
	case req == 0x8901, req == 0x8902, req == unix.TIOCSPGRP: // FIOSETOWN, SIOCSPGRP
		t.passThen(t.hideIDs(at))
	case req == 0x8903, req == 0x8904, req == unix.TIOCGPGRP, req == unix.TIOCGSID: // FIOGETOWN, SIOCGPGRP
		t.thenShow(at)
	default:
		return false
	}
	return true
}

// credentials lists where a message at an address has the pid of who sends it.
func (t *thread) credentials(addr uint64) (at []uint64) {
	msg, err := readFull(t.tid, addr, unix.SizeofMsghdr)
	if err != nil {
		return nil
	}
	le := binary.LittleEndian
	control, size := le.Uint64(msg[32:]), le.Uint64(msg[40:])
	b, err := readFull(t.tid, control, int(min(size, maxPath)))
	for off := uint64(0); err == nil && off+unix.SizeofCmsghdr+unix.SizeofUcred <= uint64(len(b)); {
		length := le.Uint64(b[off:])
		if le.Uint32(b[off+8:]) == unix.SOL_SOCKET && le.Uint32(b[off+12:]) == unix.SCM_CREDENTIALS {
			at = append(at, control+off+unix.SizeofCmsghdr)
		}
		if length < unix.SizeofCmsghdr || length > uint64(len(b)) {
			break
		}
		off += (length + 7) &^ 7
	}
	return at
}

// recvmsg is recvmsg(2).
func (t *thread) recvmsg(c *call) {
	if t.notSocket() || t.talks(c.fd(0)) {
		return
	}
	t.passWaiting(func(ret int64) {
		if ret >= 0 {
			for _, at := range t.credentials(c.args[1]) {
				t.showID(at)
			}
		}
	})
}

// named reports whether a signal's information has the pid of a process, and whether that is a child of which it tells.
func named(signo, code int32) (pid, child bool) {
	const user, tkill = 0, -6 // SI_USER, SI_TKILL
	child = unix.Signal(signo) == unix.SIGCHLD && code > 0
	return child || code == user || code == tkill, child
}

// showSender shows the virtual pid in the information about a signal that comes, and no times of a child.
func (t *thread) showSender(info siginfo) {
	pid, child := named(info.signo, info.code)
	if !pid || t.r.processOf(int(info.pid)) == nil {
		return
	}
	info.pid = int32(t.r.shown(int(info.pid)))
	if child {
		clear(info.rest[:16])
	}
	const setSiginfo = 0x4203
	_ = ptrace(setSiginfo, t.tid, 0, uintptr(unsafe.Pointer(&info)))
}

// showInfo is showSender for information that a call has written, which has the pid and the times so far behind its
// start.
func (t *thread) showInfo(at, pid, times uint64) {
	b, err := readFull(t.tid, at, 12)
	if err != nil {
		return
	}
	is, child := named(int32(binary.LittleEndian.Uint32(b)), int32(binary.LittleEndian.Uint32(b[8:])))
	if is {
		t.showID(at + pid)
	}
	if child {
		_ = writeMem(t.tid, at+times, make([]byte, 16))
	}
}

// signalfd notes that a descriptor is one of signals.
func (t *thread) signalfd(c *call) {
	if d := t.p.fds[c.fd(0)]; d.isFake() {
		t.fail(unix.EINVAL)
		return
	}
	t.passThen(func(ret int64) {
		if ret >= 0 {
			t.p.fds[int(ret)] = &descriptor{fake: -1, kind: kindSignals}
		}
	})
}

// showSignals shows what a read(2) of such a descriptor has brought.
func (t *thread) showSignals(ret int64) {
	const size = 128 // of struct signalfd_siginfo
	for at := t.c.args[1]; ret >= size; ret, at = ret-size, at+size {
		t.showInfo(at, 12, 56)
	}
}
