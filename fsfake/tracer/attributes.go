//go:build linux && amd64

package tracer

import (
	"encoding/binary"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Modes, owners, times and extended attributes.

func (t *thread) chmod(dirfd, i int, mode uint64) {
	t.oneName(dirfd, i, true, fsfake.Op{Call: fsfake.CallChmod, Mode: uint32(mode) & 0o7777})
}

func (t *thread) chown(dirfd, i, uid, flags int) {
	op := fsfake.Op{Call: fsfake.CallChown, Off: int64(int32(t.c.args[uid])), Len: int64(int32(t.c.args[uid+1]))}
	_, pl, ok := t.name(dirfd, i, flags&unix.AT_SYMLINK_NOFOLLOW == 0)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	case flags != 0 || pl.fd >= 0:
		t.fault("with flags it is not modelled yet")
	default:
		op.Path = pl.path
		t.askZero(op)
	}
}

func (t *thread) utimensat(c *call) {
	times, ok := t.times(c.args[2])
	if !ok {
		return
	}
	op := fsfake.Op{Call: fsfake.CallUtimes, Time: times[0], Time2: times[1]}
	if c.args[1] == 0 {
		if d := t.p.fds[c.fd(0)]; d != nil && d.fake >= 0 {
			op.Call, op.FD = fsfake.CallFutimes, d.fake
			t.askZero(op)
			return
		}
		t.pass()
		return
	}
	if _, pl, ok := t.name(c.fd(0), 1, c.int(3)&unix.AT_SYMLINK_NOFOLLOW == 0); ok && pl.virtual && c.int(3) != 0 {
		t.fault("with flags it is not modelled yet")
		return
	}
	t.oneName(c.fd(0), 1, true, op)
}

// times reads two struct timespec; without any they are the present.
func (t *thread) times(addr uint64) (ns [2]int64, ok bool) {
	ns = [2]int64{t.r.now, t.r.now}
	if addr == 0 {
		return ns, true
	}
	b, err := readFull(t.tid, addr, 32)
	if err != nil {
		t.failErr(err)
		return ns, false
	}
	for i := range ns {
		sec, nsec := int64(binary.LittleEndian.Uint64(b[16*i:])), int64(binary.LittleEndian.Uint64(b[16*i+8:]))
		switch nsec {
		case unix.UTIME_NOW:
		case unix.UTIME_OMIT:
			ns[i] = fsfake.UTIME_OMIT
		default:
			ns[i] = sec*1e9 + nsec
		}
	}
	return ns, true
}

// noAttributes: the fake's file system has no extended attributes.
func noAttributes(i int) func(*thread, *call) {
	return func(t *thread, c *call) {
		_, pl, ok := t.name(unix.AT_FDCWD, i, true)
		switch {
		case !ok:
		case pl.virtual:
			t.fail(unix.EOPNOTSUPP)
		default:
			t.real(pl, i)
		}
	}
}
