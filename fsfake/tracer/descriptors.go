//go:build linux && amd64

package tracer

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Descriptors: what duplicates, closes, and changes them.

func (t *thread) close(c *call) {
	fd := c.fd(0)
	d := t.p.fds[fd]
	if !d.known() {
		delete(t.p.fds, fd)
		t.pass()
		return
	}
	t.unshown(d, func() {
		t.askThen(fsfake.Op{Call: fsfake.CallClose, FD: d.fake}, func(fsfake.Result) {
			delete(t.p.fds, fd)
			t.pass()
		})
	})
}

// closeRange closes descriptors of the fake one after the other, then all. With
// CLOSE_RANGE_CLOEXEC it closes none, and the fake is told at an execve(2).
func (t *thread) closeRange(c *call) {
	first, last, flags := uint32(c.args[0]), uint32(c.args[1]), c.int(2)
	at := -1
	for fd, d := range t.p.fds { // order does not matter: it looks for the smallest
		switch {
		case uint32(fd) < first || uint32(fd) > last || flags == unix.CLOSE_RANGE_CLOEXEC:
		case d.fake < 0:
			delete(t.p.fds, fd)
		case at < 0 || fd < at:
			at = fd
		}
	}
	switch {
	case flags&^unix.CLOSE_RANGE_CLOEXEC != 0 && len(t.p.threads) > 1:
		t.unmodelled("with flags %#x it is not modelled in a program of several threads", flags)
	case at < 0:
		t.pass()
	default:
		t.ask(fsfake.Op{Call: fsfake.CallClose, FD: t.p.fds[at].fake}, func(fsfake.Result) {
			delete(t.p.fds, at)
			t.closeRange(c)
		})
	}
}

// dup is dup(2) and F_DUPFD: the duplicate is one in the fake, too. That it is to close at an
// execve(2) the fake is told then.
func (t *thread) dup() {
	d := t.p.fds[t.c.fd(0)]
	switch {
	case d == nil:
		t.pass()
	case d.fake < 0 || t.p.full():
		t.passThen(func(ret int64) { t.p.copyFD(d, d.fake, int(ret)) })
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallDup, FD: d.fake}, func(r fsfake.Result) { t.duplicate(d, int(r.N)) })
	}
}

// duplicate makes the real descriptor for a duplicate that the fake has made.
func (t *thread) duplicate(d *descriptor, fake int) {
	t.passThen(func(ret int64) {
		if ret < 0 {
			t.fault("there is no real descriptor for it: error %d", -ret)
			return
		}
		t.p.copyFD(d, fake, int(ret))
	})
}

func (p *process) copyFD(d *descriptor, fake, fd int) {
	if fd >= 0 {
		copied := *d
		copied.fake, copied.closes = fake, false
		p.fds[fd] = &copied
	}
}

// dup2 is dup2(2) and dup3(2). What was open under the new number closes in the same step.
func (t *thread) dup2(flags int) {
	oldFD, newFD := t.c.fd(0), t.c.fd(1)
	d, n := t.p.fds[oldFD], t.p.fds[newFD]
	from, onto := d.known(), n.known()
	switch {
	case oldFD == newFD || newFD < 0 || flags&^unix.O_CLOEXEC != 0:
		t.pass() // it does nothing, or fails
	case from && onto:
		op := fsfake.Op{Call: fsfake.CallDup2, FD: d.fake, FD2: n.fake}
		t.askThen(op, func(fsfake.Result) { t.duplicate(d, n.fake) })
	case from:
		t.askThen(fsfake.Op{Call: fsfake.CallDup, FD: d.fake}, func(r fsfake.Result) { t.duplicate(d, int(r.N)) })
	case onto && !t.p.open(oldFD):
		t.pass() // EBADF, and the new number stays what it is
	case onto:
		t.ask(fsfake.Op{Call: fsfake.CallClose, FD: n.fake}, func(fsfake.Result) { t.onto(d, newFD) })
	default:
		t.onto(d, newFD)
	}
}

// onto makes the call for a real descriptor.
func (t *thread) onto(d *descriptor, newFD int) {
	t.passThen(func(ret int64) {
		if ret >= 0 {
			delete(t.p.fds, newFD)
			if d != nil {
				t.p.copyFD(d, d.fake, newFD)
			}
		}
	})
}

// full reports whether a process that has lowered its limit of descriptors has so many.
func (p *process) full() bool {
	var limit unix.Rlimit
	if !p.limited || unix.Prlimit(p.real, unix.RLIMIT_NOFILE, nil, &limit) != nil {
		return false
	}
	open, free := p.realDescriptors(), 0
	for open[free] {
		free++
	}
	return uint64(free) >= limit.Cur
}

// inProc is the name in /proc of what a real descriptor leads to.
func (p *process) inProc(fd int) string {
	return "/proc/" + strconv.Itoa(p.real) + "/fd/" + strconv.Itoa(fd)
}

// open reports whether a real descriptor is open.
func (p *process) open(fd int) bool {
	_, err := os.Lstat(p.inProc(fd))
	return err == nil
}

// Requests of fcntl(2) and ioctl(2) that package unix has no names for.
const (
	fGetRWHint = 1035
	fioNRead   = 0x541b
	fioNBIO    = 0x5421
	fioASync   = 0x5452
	fioNClEx   = 0x5450
	fioClEx    = 0x5451
	fiGetBsz   = 2
	fsFieMap   = 0xc020660b
)

// ofEach are requests of ioctl(2) that every regular file answers and that are not modelled: FIONREAD, FIBMAP,
// FIOASYNC and FIOQSIZE. ofFiles are the types of others that some file systems answer: ext4 and several, xfs, btrfs.
// ofFcntl are the requests of fcntl(2) that are not modelled: owners and signals, leases and notices, seals apart,
// and hints.
var (
	ofEach  = map[uint32]bool{fioNRead: true, 1: true, fioASync: true, 0x5460: true}
	ofFiles = map[uint32]bool{'f': true, 'X': true, 0x94: true}
	ofFcntl = map[int]bool{8: true, 9: true, 10: true, 11: true, 15: true, 16: true, 17: true,
		1024: true, 1025: true, 1026: true, 1027: true, 1028: true, 1029: true, 1036: true, 1037: true, 1038: true,
		1039: true, 1040: true}
)

func (t *thread) fcntl(c *call) {
	d := t.p.fds[c.fd(0)]
	fake := d.isFake()
	cmd := c.int(1)
	switch cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL:
	default:
		if fake && d.file.flags&unix.O_PATH != 0 {
			t.fail(unix.EBADF)
			return
		}
	}
	switch cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		var limit unix.Rlimit
		if low := c.int(2); low < 0 || low > 3 && unix.Prlimit(t.p.real, unix.RLIMIT_NOFILE, nil, &limit) == nil &&
			uint64(low) >= limit.Cur {
			t.pass() // EINVAL
			return
		}
		t.dup()
	case unix.F_GETFD, unix.F_SETFD: // the real descriptor has it; the fake is told at an execve(2)
		t.pass()
	case unix.F_GETFL:
		if !fake {
			t.pass()
			return
		}
		t.result(int64(d.file.flags))
	case unix.F_SETFL:
		if !fake {
			t.pass()
			return
		}
		t.setFlags(d, c.int(2))
	case unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		if !fake {
			switch {
			case cmd == unix.F_GETLK || cmd == unix.F_OFD_GETLK:
				t.passThen(t.showRealLock)
			case !t.noteLocked(c.fd(0)):
				t.passWaiting(nil)
			}
			return
		}
		t.recordLock(d, cmd)
	case fGetRWHint:
		if fake {
			t.put(c.args[2], putUint64s(0), 0)
			return
		}
		t.pass()
	case unix.F_ADD_SEALS, unix.F_GET_SEALS:
		if fake {
			t.fail(unix.EINVAL)
			return
		}
		t.pass()
	default:
		switch {
		case !fake && t.owner(true):
		case !fake:
			t.pass()
		case ofFcntl[cmd]:
			t.unmodelled("on a file of the fake (%s) it is not modelled", d.path)
		case cmd == unix.F_SETPIPE_SZ || cmd == unix.F_GETPIPE_SZ:
			t.fail(unix.EBADF)
		default: // no such request is there
			t.fail(unix.EINVAL)
		}
	}
}

// setFlags is F_SETFL. It is a step only when it changes what calls do, for whoever shares the
// description is of this run, and has been answered before.
func (t *thread) setFlags(d *descriptor, flags int) {
	const settable = unix.O_APPEND | unix.O_NONBLOCK | unix.O_NOATIME | unix.O_DIRECT
	if flags&unix.O_ASYNC != 0 {
		t.unmodelled("signals about a file of the fake (%s) are not modelled", d.path)
		return
	}
	set := d.file.flags&^settable | flags&settable
	if (set^d.file.flags)&^unix.O_NONBLOCK == 0 && !d.file.fifo { // which does nothing to a regular file
		d.file.flags = set
		t.result(0)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallSetfl, FD: d.fake, Flags: flags & settable}, func(fsfake.Result) {
		d.file.flags = set
		t.result(0)
	})
}

// ioctl on a file of the fake is that of a file that has none, as programs ask to find out
// whether they talk to a terminal.
func (t *thread) ioctl(c *call) {
	d := t.p.fds[c.fd(0)]
	if !d.isFake() {
		if !t.owner(false) {
			t.pass()
		}
		return
	}
	switch req := uint32(c.args[1]); {
	case d.file.flags&unix.O_PATH != 0:
		t.fail(unix.EBADF)
	case req == fioClEx, req == fioNClEx: // as F_SETFD
		t.pass()
	case req == unix.FICLONE || req == unix.FICLONERANGE:
		t.fail(unix.EOPNOTSUPP)
	case req == fiGetBsz:
		t.put(c.args[2], putUint64s(pageSize)[:4], 0)
	case req == fioNBIO:
		t.setNonblocking(d, c.args[2])
	case ofEach[req]:
		t.unmodelled("on a file of the fake (%s) it is not modelled", d.path)
	case req == fsFieMap:
		t.refuse(unix.EOPNOTSUPP)
	case req == unix.FS_IOC_GETFLAGS: // programs ask for the immutable flag, and take none for no
		t.fail(unix.ENOTTY)
	case ofFiles[req>>8&0xff]: // as on the file systems that do not have it
		t.refuse(unix.ENOTTY)
	default: // it is a device's
		t.fail(unix.ENOTTY)
	}
}

// setNonblocking is FIONBIO.
func (t *thread) setNonblocking(d *descriptor, addr uint64) {
	b, err := readFull(t.tid, addr, 4)
	switch {
	case err != nil:
		t.failErr(err)
	case string(b) != "\x00\x00\x00\x00":
		t.setFlags(d, d.file.flags|unix.O_NONBLOCK)
	default:
		t.setFlags(d, d.file.flags&^unix.O_NONBLOCK)
	}
}
