//go:build linux && amd64

package tracer

import (
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Descriptors: what duplicates, closes, and changes them.

func (t *thread) close(c *call) {
	fd := c.fd(0)
	d := t.p.fds[fd]
	if d == nil || d.fake < 0 {
		delete(t.p.fds, fd)
		t.pass()
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallClose, FD: d.fake}, func(fsfake.Result) {
		delete(t.p.fds, fd)
		t.pass()
	})
}

// closeRange closes descriptors of the fake one after the other, then all.
func (t *thread) closeRange(c *call) {
	first, last, flags := uint32(c.args[0]), uint32(c.args[1]), c.int(2)
	if flags != 0 {
		for fd, d := range t.p.fds { // order does not matter: it asks whether there is one
			if d.fake >= 0 && uint32(fd) >= first && uint32(fd) <= last {
				t.fault("with flags it is not modelled on descriptors of the fake")
				return
			}
		}
		t.pass()
		return
	}
	at := -1
	for fd, d := range t.p.fds { // order does not matter: it looks for the smallest
		switch {
		case uint32(fd) < first || uint32(fd) > last:
		case d.fake < 0:
			delete(t.p.fds, fd)
		case at < 0 || fd < at:
			at = fd
		}
	}
	if at < 0 {
		t.pass()
		return
	}
	t.ask(fsfake.Op{Call: fsfake.CallClose, FD: t.p.fds[at].fake}, func(fsfake.Result) {
		delete(t.p.fds, at)
		t.closeRange(c)
	})
}

// dup is dup(2) and F_DUPFD: the duplicate is one in the fake, too.
func (t *thread) dup(flags int) {
	d := t.p.fds[t.c.fd(0)]
	switch {
	case d == nil:
		t.pass()
	case d.fake < 0:
		t.passThen(func(ret int64) { t.p.copyFD(d, d.fake, int(ret)) })
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallDup, FD: d.fake}, func(r fsfake.Result) {
			t.passThen(func(ret int64) {
				if ret < 0 {
					t.fault("there is no real descriptor for it: error %d", -ret)
					return
				}
				t.p.copyFD(d, int(r.N), int(ret))
			})
		})
	}
}

func (p *process) copyFD(d *descriptor, fake, fd int) {
	if fd >= 0 {
		copied := *d
		copied.fake, copied.cloexec = fake, false
		p.fds[fd] = &copied
	}
}

// dup2 is dup2 and dup3.
func (t *thread) dup2(flags int) {
	oldFD, newFD := t.c.fd(0), t.c.fd(1)
	d, n := t.p.fds[oldFD], t.p.fds[newFD]
	fake := d != nil && d.fake >= 0
	switch {
	case oldFD == newFD || newFD < 0:
		t.pass()
	case n != nil && n.fake >= 0:
		t.ask(fsfake.Op{Call: fsfake.CallClose, FD: n.fake}, func(fsfake.Result) {
			delete(t.p.fds, newFD)
			t.dup2(flags)
		})
	case fake:
		t.askThen(fsfake.Op{Call: fsfake.CallDup, FD: d.fake}, func(r fsfake.Result) {
			t.passThen(func(ret int64) {
				if ret < 0 {
					t.fault("there is no real descriptor for it: error %d", -ret)
					return
				}
				t.p.copyFD(d, int(r.N), newFD)
			})
		})
	default:
		t.passThen(func(ret int64) {
			if ret >= 0 {
				delete(t.p.fds, newFD)
				if d != nil {
					t.p.copyFD(d, d.fake, newFD)
				}
			}
		})
	}
}

// Requests of fcntl(2) and ioctl(2) that package unix has no names for.
const (
	fGetRWHint = 1035
	fioNRead   = 0x541b
	fioNBIO    = 0x5421
	fioNClEx   = 0x5450
	fioClEx    = 0x5451
)

func (t *thread) fcntl(c *call) {
	d := t.p.fds[c.fd(0)]
	fake := d != nil && d.fake >= 0
	switch cmd := c.int(1); cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		t.dup(cmd)
	case unix.F_GETFD:
		t.pass()
	case unix.F_SETFD:
		if fake && d.cloexec && c.int(2)&unix.FD_CLOEXEC == 0 {
			t.fault("clearing FD_CLOEXEC of a file of the fake (%s) is not modelled yet", d.path)
			return
		}
		t.pass()
	case unix.F_GETFL:
		if !fake {
			t.pass()
			return
		}
		t.result(int64(d.flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC|unix.O_NOCTTY|unix.O_CLOEXEC) | 0x8000))
	case unix.F_SETFL:
		const changes = unix.O_APPEND | unix.O_DIRECT | unix.O_NOATIME
		if fake && c.int(2)&changes != d.flags&changes {
			t.fault("changing O_APPEND, O_DIRECT or O_NOATIME is not modelled yet")
			return
		}
		if fake {
			d.flags = d.flags&^unix.O_NONBLOCK | c.int(2)&unix.O_NONBLOCK
			t.result(0)
			return
		}
		t.pass()
	case unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		if !fake {
			t.passWaiting(nil)
			return
		}
		t.recordLock(d, cmd)
	case fGetRWHint, unix.F_ADD_SEALS, unix.F_GET_SEALS:
		if fake {
			t.fail(unix.EINVAL)
			return
		}
		t.pass()
	default:
		if fake {
			t.fault("on a file of the fake (%s) it is not modelled", d.path)
			return
		}
		t.pass()
	}
}

// ioctl on a file of the fake is that of a file that has none, as programs ask to find out
// whether they talk to a terminal.
func (t *thread) ioctl(c *call) {
	d := t.p.fds[c.fd(0)]
	if d == nil || d.fake < 0 {
		t.pass()
		return
	}
	switch req := uint32(c.args[1]); {
	case req == fioClEx, req == fioNClEx && !d.cloexec: // as F_SETFD
		t.pass()
	case req>>8 == 0x54 && req != fioNRead && req != fioClEx && req != fioNClEx && req != fioNBIO:
		t.fail(unix.ENOTTY)
	case req == unix.FS_IOC_GETFLAGS:
		t.fail(unix.ENOTTY)
	case req == unix.FICLONE || req == unix.FICLONERANGE:
		t.fail(unix.EOPNOTSUPP)
	default:
		t.fault("on a file of the fake (%s) it is not modelled", d.path)
	}
}
