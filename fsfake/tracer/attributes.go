//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Modes, owners, times and extended attributes.

func (t *thread) chmod(dirfd, i int, mode uint64) {
	t.oneName(dirfd, i, true, fsfake.Op{Call: fsfake.CallChmod, Mode: uint32(mode) & 0o7777})
}

// chmodAt is fchmodat2(2). The mode of a symlink cannot be changed.
func (t *thread) chmodAt(c *call) {
	flags := c.int(3)
	if flags&unix.AT_EMPTY_PATH != 0 && t.emptyPath(1) {
		t.onFakeAt(c.fd(0), func(d *descriptor) {
			if d.file.flags&unix.O_PATH != 0 {
				t.unmodelled("of a file of the fake (%s) that is open with O_PATH it is not modelled", d.path)
				return
			}
			t.askZero(fsfake.Op{Call: fsfake.CallFchmod, FD: d.fake, Mode: uint32(c.args[2]) & 0o7777})
		})
		return
	}
	follow := flags&unix.AT_SYMLINK_NOFOLLOW == 0
	t.oneName(c.fd(0), 1, follow, fsfake.Op{Call: fsfake.CallChmod, Mode: uint32(c.args[2]) & 0o7777})
	if chmod := t.op; t.state == asking && !follow {
		t.askThen(fsfake.Op{Call: fsfake.CallLstat, Path: chmod.Path, Flags: fsfake.LookType}, func(r fsfake.Result) {
			if r.Stat.Mode&fs.ModeSymlink != 0 {
				t.refused = unix.EOPNOTSUPP
				t.fail(unix.EOPNOTSUPP)
				return
			}
			t.askZero(chmod)
		})
	}
}

// owners are the user and the group in argument i and the next one; -1 leaves one as it is.
func (t *thread) owners(op fsfake.Op, i int) fsfake.Op {
	op.Off, op.Len = int64(int32(t.c.args[i])), int64(int32(t.c.args[i+1]))
	return op
}

// chown is chown, lchown and fchownat.
func (t *thread) chown(dirfd, i, uid, flags int) {
	if flags&unix.AT_EMPTY_PATH != 0 && t.emptyPath(i) {
		t.onFakeAt(dirfd, func(d *descriptor) { t.askZero(t.owners(fsfake.Op{Call: fsfake.CallFchown, FD: d.fake}, uid)) })
		return
	}
	op := fsfake.Op{Call: fsfake.CallChown}
	if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
		op.Call = fsfake.CallLchown
	}
	t.oneName(dirfd, i, op.Call == fsfake.CallChown, t.owners(op, uid))
}

func (t *thread) utimensat(c *call) {
	times, ok := t.times(c.args[2])
	if !ok {
		return
	}
	if c.int(3)&^pathFlags != 0 && times != [2]int64{fsfake.UTIME_OMIT, fsfake.UTIME_OMIT} {
		t.fail(unix.EINVAL)
		return
	}
	op := fsfake.Op{Call: fsfake.CallUtimes, Time: times[0], Time2: times[1]}
	if c.args[1] == 0 || c.int(3)&unix.AT_EMPTY_PATH != 0 && t.emptyPath(1) {
		if d := t.p.fds[c.fd(0)]; d.isFake() {
			op.Call, op.FD = fsfake.CallFutimes, d.fake
			t.askZero(op)
			return
		}
		if !t.protectsFile(c.fd(0), changes) {
			t.pass()
		}
		return
	}
	if c.int(3)&unix.AT_SYMLINK_NOFOLLOW != 0 {
		op.Call = fsfake.CallLutimes
	}
	t.oneName(c.fd(0), 1, op.Call == fsfake.CallUtimes, op)
}

// utimes is utime, utimes and futimesat: two times of so many bytes stand in the argument after the name. The one of
// 8 bytes is in seconds; that of 16 has seconds, and a fraction in the given unit.
func (t *thread) utimes(dirfd, i, size int, unit int64) {
	op := fsfake.Op{Call: fsfake.CallUtimes, Time: fsfake.UTIME_NOW, Time2: fsfake.UTIME_NOW}
	if addr := t.c.args[i+1]; addr != 0 {
		b, err := readFull(t.tid, addr, 2*size)
		if err != nil {
			t.failErr(err)
			return
		}
		for k, ns := range []*int64{&op.Time, &op.Time2} {
			*ns = int64(binary.LittleEndian.Uint64(b[size*k:])) * 1e9
			if size == 8 {
				continue
			}
			part := int64(binary.LittleEndian.Uint64(b[size*k+8:]))
			if part < 0 || part >= 1e9/unit {
				t.fail(unix.EINVAL)
				return
			}
			*ns += part * unit
		}
	}
	t.oneName(dirfd, i, true, op)
}

// times reads two struct timespec; without any they are the present.
func (t *thread) times(addr uint64) (ns [2]int64, ok bool) {
	ns = [2]int64{fsfake.UTIME_NOW, fsfake.UTIME_NOW}
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
			if nsec < 0 || nsec >= 1e9 {
				t.fail(unix.EINVAL)
				return ns, false
			}
			ns[i] = sec*1e9 + nsec
		}
	}
	return ns, true
}

// noAttributes: the fake's file system has no extended attributes.
func noAttributes(t *thread, c *call) {
	op := fsfake.Op{Call: fsfake.CallStat, Flags: fsfake.LookType}
	switch c.nr {
	case unix.SYS_LSETXATTR, unix.SYS_LGETXATTR, unix.SYS_LLISTXATTR, unix.SYS_LREMOVEXATTR:
		op.Call = fsfake.CallLstat
	}
	_, pl, ok := t.name(unix.AT_FDCWD, 0, op.Call == fsfake.CallStat)
	switch {
	case !ok:
	case pl.virtual && pl.fd >= 0:
		t.noAttribute()
	case pl.virtual:
		op.Path = pl.path
		t.askThen(op, func(fsfake.Result) {
			t.refused = unix.ENODATA
			t.noAttribute()
		})
	default:
		t.real(pl, 0)
	}
}

// noAttribute answers a call on an extended attribute of a file of the fake: there is none, and none can be set, as on
// some file systems.
func (t *thread) noAttribute() {
	if t.c.nr == unix.SYS_LISTXATTR || t.c.nr == unix.SYS_LLISTXATTR || t.c.nr == unix.SYS_FLISTXATTR {
		t.result(0)
		return
	}
	name, err := readString(t.tid, t.c.args[1], maxPath)
	if d := t.p.fds[t.c.fd(0)]; t.c.text == "" && d.isFake() {
		t.c.text = fmt.Sprintf("%s(%q)", t.c.spec.name, name)
	}
	space, _, _ := strings.Cut(name, ".")
	sets := t.c.nr == unix.SYS_SETXATTR || t.c.nr == unix.SYS_LSETXATTR || t.c.nr == unix.SYS_FSETXATTR
	switch {
	case err != nil:
		t.failErr(err)
	case sets && space == "user": // who sets one of its own means it for others
		t.refuseUnlike(unix.EOPNOTSUPP)
	case sets:
		t.refuse(unix.EOPNOTSUPP)
	case space == "user": // a file of the start may have some, which is not copied
		t.refuse(unix.ENODATA)
	case space == "security" || space == "trusted" || strings.HasPrefix(name, "system.posix_acl_"):
		t.fail(unix.ENODATA)
	default:
		t.fail(unix.EOPNOTSUPP)
	}
}
