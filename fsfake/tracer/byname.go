//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Calls on files by name. Outside the virtual directory they are made.

var byName = []spec{
	{unix.SYS_OPEN, "open", 3, func(t *thread, c *call) { t.open(unix.AT_FDCWD, 0, c.int(1), c.args[2]) }},
	{unix.SYS_CREAT, "creat", 2, func(t *thread, c *call) {
		t.open(unix.AT_FDCWD, 0, unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, c.args[1])
	}},
	{unix.SYS_OPENAT, "openat", 4, func(t *thread, c *call) { t.open(c.fd(0), 1, c.int(2), c.args[3]) }},
	{unix.SYS_OPENAT2, "openat2", 4, (*thread).openat2},

	{unix.SYS_STAT, "stat", 2, func(t *thread, c *call) { t.stat(unix.AT_FDCWD, 0, 1, 0) }},
	{unix.SYS_LSTAT, "lstat", 2, func(t *thread, c *call) { t.stat(unix.AT_FDCWD, 0, 1, unix.AT_SYMLINK_NOFOLLOW) }},
	{unix.SYS_NEWFSTATAT, "newfstatat", 4, func(t *thread, c *call) { t.stat(c.fd(0), 1, 2, c.int(3)) }},
	{unix.SYS_STATX, "statx", 5, func(t *thread, c *call) { t.stat(c.fd(0), 1, 4, c.int(2)) }},

	{unix.SYS_UNLINK, "unlink", 1, func(t *thread, c *call) { t.oneName(unix.AT_FDCWD, 0, false, fsfake.Op{Call: fsfake.CallUnlink}) }},
	{unix.SYS_RMDIR, "rmdir", 1, func(t *thread, c *call) { t.oneName(unix.AT_FDCWD, 0, false, fsfake.Op{Call: fsfake.CallRmdir}) }},
	{unix.SYS_UNLINKAT, "unlinkat", 3, func(t *thread, c *call) {
		op := fsfake.Op{Call: fsfake.CallUnlink}
		switch c.int(2) {
		case 0:
		case unix.AT_REMOVEDIR:
			op.Call = fsfake.CallRmdir
		default:
			t.pass() // EINVAL
			return
		}
		t.oneName(c.fd(0), 1, false, op)
	}},
	{unix.SYS_MKDIR, "mkdir", 2, func(t *thread, c *call) { t.mkdir(unix.AT_FDCWD, 0, c.args[1]) }},
	{unix.SYS_MKDIRAT, "mkdirat", 3, func(t *thread, c *call) { t.mkdir(c.fd(0), 1, c.args[2]) }},
	{unix.SYS_TRUNCATE, "truncate", 2, func(t *thread, c *call) {
		t.oneName(unix.AT_FDCWD, 0, true, fsfake.Op{Call: fsfake.CallTruncate, Len: int64(c.args[1])})
	}},
	{unix.SYS_CHMOD, "chmod", 2, func(t *thread, c *call) { t.chmod(unix.AT_FDCWD, 0, c.args[1]) }},
	{unix.SYS_FCHMODAT, "fchmodat", 3, func(t *thread, c *call) { t.chmod(c.fd(0), 1, c.args[2]) }},
	{unix.SYS_CHOWN, "chown", 3, func(t *thread, c *call) { t.chown(unix.AT_FDCWD, 0, 1, 0) }},
	{unix.SYS_LCHOWN, "lchown", 3, func(t *thread, c *call) { t.chown(unix.AT_FDCWD, 0, 1, unix.AT_SYMLINK_NOFOLLOW) }},
	{unix.SYS_FCHOWNAT, "fchownat", 5, func(t *thread, c *call) { t.chown(c.fd(0), 1, 2, c.int(4)) }},

	{unix.SYS_READLINK, "readlink", 3, func(t *thread, c *call) { t.readlink(unix.AT_FDCWD, 0) }},
	{unix.SYS_READLINKAT, "readlinkat", 4, func(t *thread, c *call) { t.readlink(c.fd(0), 1) }},
	{unix.SYS_SYMLINK, "symlink", 2, func(t *thread, c *call) { t.symlink(unix.AT_FDCWD, 1) }},
	{unix.SYS_SYMLINKAT, "symlinkat", 3, func(t *thread, c *call) { t.symlink(c.fd(1), 2) }},
	{unix.SYS_RENAME, "rename", 2, func(t *thread, c *call) { t.rename(unix.AT_FDCWD, 0, unix.AT_FDCWD, 1, 0) }},
	{unix.SYS_RENAMEAT, "renameat", 4, func(t *thread, c *call) { t.rename(c.fd(0), 1, c.fd(2), 3, 0) }},
	{unix.SYS_RENAMEAT2, "renameat2", 5, func(t *thread, c *call) { t.rename(c.fd(0), 1, c.fd(2), 3, c.int(4)) }},
	{unix.SYS_LINK, "link", 2, func(t *thread, c *call) { t.link(unix.AT_FDCWD, 0, unix.AT_FDCWD, 1, 0) }},
	{unix.SYS_LINKAT, "linkat", 5, func(t *thread, c *call) { t.link(c.fd(0), 1, c.fd(2), 3, c.int(4)) }},

	{unix.SYS_ACCESS, "access", 2, func(t *thread, c *call) { t.access(unix.AT_FDCWD, 0, c.int(1)) }},
	{unix.SYS_FACCESSAT, "faccessat", 3, func(t *thread, c *call) { t.access(c.fd(0), 1, c.int(2)) }},
	{unix.SYS_FACCESSAT2, "faccessat2", 4, func(t *thread, c *call) { t.access(c.fd(0), 1, c.int(2)) }},
	{unix.SYS_UTIMENSAT, "utimensat", 4, (*thread).utimensat},

	{unix.SYS_STATFS, "statfs", 2, (*thread).statfs},
	{unix.SYS_MKNOD, "mknod", 3, notInside(0)},
	{unix.SYS_MKNODAT, "mknodat", 4, notInsideAt(0, 1)},
	{unix.SYS_UTIME, "utime", 2, notInside(0)},
	{unix.SYS_UTIMES, "utimes", 2, notInside(0)},
	{unix.SYS_CHDIR, "chdir", 1, (*thread).chdir},
	{unix.SYS_FCHDIR, "fchdir", 1, (*thread).fchdir},
	{unix.SYS_SETXATTR, "setxattr", 5, noAttributes(0)},
	{unix.SYS_LSETXATTR, "lsetxattr", 5, noAttributes(0)},
	{unix.SYS_GETXATTR, "getxattr", 4, noAttributes(0)},
	{unix.SYS_LGETXATTR, "lgetxattr", 4, noAttributes(0)},
	{unix.SYS_LISTXATTR, "listxattr", 3, noAttributes(0)},
	{unix.SYS_LLISTXATTR, "llistxattr", 3, noAttributes(0)},
	{unix.SYS_REMOVEXATTR, "removexattr", 2, noAttributes(0)},
	{unix.SYS_LREMOVEXATTR, "lremovexattr", 2, noAttributes(0)},
	{unix.SYS_GETCWD, "getcwd", 2, (*thread).getcwd},
}

// name reads the path that argument i points to, and locates it. When it is false the call has
// been answered already.
func (t *thread) name(dirfd, i int, follow bool) (name string, pl place, ok bool) {
	name, err := readString(t.tid, t.c.args[i], maxPath)
	if err != nil {
		t.failErr(err)
		return "", pl, false
	}
	t.c.text = t.c.spec.name + "(" + strconv.Quote(name) + ")"
	if name == "" {
		return "", place{fd: -1}, true
	}
	pl, err = t.locate(dirfd, name, follow)
	if err != nil {
		t.failErr(err)
		return "", pl, false
	}
	if t.r.c.Through != "" && pl.virtual && pl.fd < 0 && path.IsAbs(name) {
		t.subst = append(t.subst, substitute{i, t.r.standsFor(pl.path)})
		t.fakeOnly = t.fakeOnly || !below(path.Clean(pl.path), t.r.c.Dir)
	}
	return name, pl, true
}

// real makes the call, on another path when the place says so.
func (t *thread) real(pl place, i int) { t.realThen(pl, i, nil) }

func (t *thread) realThen(pl place, i int, f func(ret int64)) {
	switch {
	case pl.proc != 0:
		t.procFile(pl, i, f)
	case pl.changed:
		t.otherPath(i, pl.path, f)
	case f != nil:
		t.passThen(f)
	default:
		t.pass()
	}
}

// otherPath makes the call with another path as argument i. It is written below the thread's
// stack, and what was there is put back.
func (t *thread) otherPath(i int, name string, f func(ret int64)) {
	info, err := getSyscallInfo(t.tid)
	if err != nil {
		t.pass()
		return
	}
	b := append([]byte(name), 0)
	at := (info.sp - 1024 - uint64(len(b))) &^ 15
	old, err := readFull(t.tid, at, len(b))
	if err == nil {
		err = writeMem(t.tid, at, b)
	}
	if err != nil {
		t.fault("no room for the path %s on the stack", name)
		return
	}
	args := t.c.args
	args[i] = at
	t.instead(t.c.nr, args[:]...)
	t.passThen(func(ret int64) {
		_ = writeMem(t.tid, at, old)
		if f != nil {
			f(ret)
		}
	})
}

// oneName is a call with one name that answers an error or nothing.
func (t *thread) oneName(dirfd, i int, follow bool, op fsfake.Op) {
	_, pl, ok := t.name(dirfd, i, follow)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	case pl.fd >= 0:
		t.fault("through /proc/self/fd it is not handled")
	default:
		op.Path = pl.path
		t.askZero(op)
	}
}

func (t *thread) mkdir(dirfd, i int, mode uint64) {
	t.oneName(dirfd, i, false, fsfake.Op{Call: fsfake.CallMkdir, Mode: uint32(mode) & 0o7777 &^ t.p.umask})
}

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

// notInside is a call that is not handled on files of the fake.
func notInside(i int) func(*thread, *call) { return notInsideAt(-1, i) }

// notInsideAt is notInside for a name relative to the descriptor in argument dir.
func notInsideAt(dir, i int) func(*thread, *call) {
	return func(t *thread, c *call) {
		from := unix.AT_FDCWD
		if dir >= 0 {
			from = c.fd(dir)
		}
		_, pl, ok := t.name(from, i, true)
		switch {
		case !ok:
		case pl.virtual:
			t.fault("on a file in the virtual directory it is not modelled")
		default:
			t.real(pl, i)
		}
	}
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

// open is open(2) and openat(2). A file of the fake becomes a descriptor of an epoll instance:
// the number is real and unused, no memory of the program is needed, and every call that is
// forgotten fails on it.
func (t *thread) open(dirfd, i, flags int, mode uint64) {
	name, pl, ok := t.name(dirfd, i, flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL)
	switch {
	case !ok:
	case pl.fd >= 0:
		t.fault("opening a file anew through /proc/self/fd is not modelled")
	case pl.virtual:
		op := fsfake.Op{Call: fsfake.CallOpen, Path: pl.path, Flags: flags}
		if flags&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0 {
			op.Mode = uint32(mode) & 0o7777 &^ t.p.umask
		}
		d := &descriptor{flags: flags, cloexec: flags&unix.O_CLOEXEC != 0, path: t.p.absolute(pl.path)}
		t.askThen(op, func(r fsfake.Result) {
			d.fake = int(r.N)
			t.placeholder(d)
		})
	case name == "/dev/urandom" || name == "/dev/random":
		t.passThen(func(ret int64) {
			if ret >= 0 {
				t.p.fds[int(ret)] = &descriptor{fake: -1, random: true}
			}
		})
	default:
		t.real(pl, i)
	}
}

// placeholder makes the real descriptor for one of the fake.
func (t *thread) placeholder(d *descriptor) {
	if t.through {
		t.really(func(ret int64) { t.p.fds[int(ret)] = d })
		return
	}
	t.instead(unix.SYS_EPOLL_CREATE1, uint64(d.flags&unix.O_CLOEXEC))
	t.passThen(func(ret int64) {
		if ret < 0 {
			t.fault("there is no real descriptor for it: error %d", -ret)
			return
		}
		t.p.fds[int(ret)] = d
	})
}

func (t *thread) openat2(c *call) {
	how, err := readFull(t.tid, c.args[2], 24)
	if err != nil {
		t.failErr(err)
		return
	}
	flags, mode, resolve := binary.LittleEndian.Uint64(how), binary.LittleEndian.Uint64(how[8:]), binary.LittleEndian.Uint64(how[16:])
	_, pl, ok := t.name(c.fd(0), 1, true)
	switch {
	case !ok:
	case pl.virtual && resolve != 0:
		t.fail(unix.ENOSYS) // programs go on with openat(2)
	case pl.virtual:
		t.open(c.fd(0), 1, int(flags), mode)
	default:
		t.real(pl, 1)
	}
}

// stat is stat, lstat, fstatat and statx.
func (t *thread) stat(dirfd, i, to, flags int) {
	if flags&unix.AT_EMPTY_PATH != 0 && t.emptyPath(i) {
		t.c.text = ""
		if d := t.p.fds[dirfd]; d != nil && d.fake >= 0 {
			t.askStat(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake}, to)
			return
		}
		if dirfd != unix.AT_FDCWD || t.p.cwd == "" {
			t.pass()
			return
		}
		t.askStat(fsfake.Op{Call: fsfake.CallStat, Path: t.p.cwd}, to)
		return
	}
	_, pl, ok := t.name(dirfd, i, flags&unix.AT_SYMLINK_NOFOLLOW == 0)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	case pl.fd >= 0:
		t.askStat(fsfake.Op{Call: fsfake.CallFstat, FD: t.p.fds[pl.fd].fake}, to)
	case flags&unix.AT_SYMLINK_NOFOLLOW != 0:
		t.askStat(fsfake.Op{Call: fsfake.CallLstat, Path: pl.path}, to)
	default:
		t.askStat(fsfake.Op{Call: fsfake.CallStat, Path: pl.path}, to)
	}
}

// emptyPath: argument i is NULL or points to an empty string.
func (t *thread) emptyPath(i int) bool {
	if t.c.args[i] == 0 {
		return true
	}
	b, err := readMem(t.tid, t.c.args[i], 1)
	return err == nil && b[0] == 0
}

func (t *thread) askStat(op fsfake.Op, to int) {
	addr, extended := t.c.args[to], t.c.nr == unix.SYS_STATX
	t.askThen(op, func(r fsfake.Result) {
		if t.through {
			t.really(func(int64) {
				t.kernel.Stat = t.statOf(addr)
				t.show(addr, r.Stat, extended)
			})
			return
		}
		if extended {
			t.put(addr, statxBytes(r.Stat), 0)
			return
		}
		t.put(addr, statBytes(r.Stat), 0)
	})
}

// show writes what the fake says of a file over what the kernel has said: inode numbers and
// times are the fake's.
func (t *thread) show(addr uint64, s fsfake.Stat, extended bool) {
	b := statBytes(s)
	if extended {
		b = statxBytes(s)
	}
	_ = writeMem(t.tid, addr, b)
}

// statBytes is struct stat.
func statBytes(s fsfake.Stat) []byte {
	b := putUint64s(s.Dev, s.Ino, uint64(s.Nlink))
	le := binary.LittleEndian
	b = le.AppendUint32(b, unixMode(s.Mode))
	b = le.AppendUint32(b, s.UID)
	b = le.AppendUint32(b, s.GID)
	b = le.AppendUint32(b, 0)
	b = append(b, putUint64s(0, uint64(s.Size), pageSize, blocks(s))...)
	for _, ns := range []int64{s.Atime, s.Mtime, s.Ctime} {
		sec, nsec := seconds(ns)
		b = append(b, putUint64s(uint64(sec), uint64(nsec))...)
	}
	return append(b, make([]byte, 24)...)
}

// statxBytes is struct statx, with the basic fields and the time of birth.
func statxBytes(s fsfake.Stat) []byte {
	le := binary.LittleEndian
	var b []byte
	b = le.AppendUint32(b, unix.STATX_BASIC_STATS|unix.STATX_BTIME)
	b = le.AppendUint32(b, pageSize)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, s.Nlink)
	b = le.AppendUint32(b, s.UID)
	b = le.AppendUint32(b, s.GID)
	b = le.AppendUint16(b, uint16(unixMode(s.Mode)))
	b = le.AppendUint16(b, 0)
	b = append(b, putUint64s(s.Ino, uint64(s.Size), blocks(s), 0)...)
	for _, ns := range []int64{s.Atime, s.Btime, s.Ctime, s.Mtime} {
		sec, nsec := seconds(ns)
		b = append(b, putUint64s(uint64(sec), uint64(nsec))...)
	}
	b = append(b, make([]byte, 8)...) // rdev
	b = le.AppendUint32(b, uint32(unix.Major(s.Dev)))
	b = le.AppendUint32(b, uint32(unix.Minor(s.Dev)))
	return append(b, make([]byte, 256-len(b))...)
}

// blocks is what ext4 allocates: whole pages, in units of 512 bytes.
func blocks(s fsfake.Stat) uint64 { return uint64((s.Size+pageSize-1)/pageSize) * (pageSize / 512) }

func seconds(ns int64) (sec, nsec int64) {
	sec, nsec = ns/1e9, ns%1e9
	if nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	return sec, nsec
}

func unixMode(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	switch {
	case m.IsDir():
		b |= unix.S_IFDIR
	case m&fs.ModeSymlink != 0:
		b |= unix.S_IFLNK
	default:
		b |= unix.S_IFREG
	}
	for _, bit := range []struct {
		is  fs.FileMode
		has uint32
	}{{fs.ModeSetuid, unix.S_ISUID}, {fs.ModeSetgid, unix.S_ISGID}, {fs.ModeSticky, unix.S_ISVTX}} {
		if m&bit.is != 0 {
			b |= bit.has
		}
	}
	return b
}

func (t *thread) readlink(dirfd, i int) {
	buf, size := t.c.args[i+1], t.c.int(i+2)
	_, pl, ok := t.name(dirfd, i, false)
	switch {
	case !ok:
	case pl.fd >= 0:
		t.fault("of a file of the fake is not modelled")
	case pl.proc != 0 && pl.rest == "":
		t.put(buf, []byte(cut(strconv.Itoa(t.p.pid), size)), int64(len(cut(strconv.Itoa(t.p.pid), size)))) // /proc/self
	case !pl.virtual:
		t.real(pl, i)
	case size <= 0:
		t.fail(unix.EINVAL)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallReadlink, Path: pl.path}, func(r fsfake.Result) {
			if t.through {
				t.really(func(ret int64) {
					b, _ := readMem(t.tid, buf, int(ret))
					t.kernel.Data = string(b)
				})
				return
			}
			data := cut(r.Data, size)
			t.put(buf, []byte(data), int64(len(data)))
		})
	}
}

func cut(s string, n int) string { return s[:min(len(s), max(n, 0))] }

func (t *thread) symlink(dirfd, i int) {
	target, err := readString(t.tid, t.c.args[0], maxPath)
	if err != nil {
		t.failErr(err)
		return
	}
	t.oneName(dirfd, i, false, fsfake.Op{Call: fsfake.CallSymlink, Path2: target})
}

// twoNames locates both names of a rename or link. Between the fake and the rest there is a
// border as between two file systems.
func (t *thread) twoNames(olddir, i, newdir, j int, follow bool) (from, to place, ok bool) {
	old, from, ok := t.name(olddir, i, follow)
	if !ok {
		return from, to, false
	}
	name, to, ok := t.name(newdir, j, false)
	if !ok {
		return from, to, false
	}
	t.c.text = t.c.spec.name + "(" + strconv.Quote(old) + ", " + strconv.Quote(name) + ")"
	switch {
	case from.virtual != to.virtual:
		t.fail(unix.EXDEV)
	case from.virtual:
		return from, to, true
	case from.changed || to.changed || from.proc != 0 || to.proc != 0:
		t.fault("on files of /proc it is not handled")
	default:
		t.pass()
	}
	return from, to, false
}

func (t *thread) rename(olddir, i, newdir, j, flags int) {
	from, to, ok := t.twoNames(olddir, i, newdir, j, false)
	switch {
	case !ok:
	case from.path == t.r.c.Dir || to.path == t.r.c.Dir:
		t.fail(unix.EBUSY)
	default:
		t.askZero(fsfake.Op{Call: fsfake.CallRename, Path: from.path, Path2: to.path, Flags: flags})
	}
}

func (t *thread) link(olddir, i, newdir, j, flags int) {
	if d := t.p.fds[olddir]; flags&unix.AT_EMPTY_PATH != 0 && d != nil && d.fake >= 0 && t.emptyPath(i) {
		t.oneNameOf(newdir, j, fsfake.Op{Call: fsfake.CallLinkFD, FD: d.fake})
		return
	}
	from, to, ok := t.twoNames(olddir, i, newdir, j, flags&unix.AT_SYMLINK_FOLLOW != 0)
	switch {
	case !ok:
	case from.fd >= 0:
		t.askZero(fsfake.Op{Call: fsfake.CallLinkFD, FD: t.p.fds[from.fd].fake, Path2: to.path})
	case flags != 0:
		t.fault("with flags %#x it is not modelled", flags)
	default:
		t.askZero(fsfake.Op{Call: fsfake.CallLink, Path: from.path, Path2: to.path})
	}
}

// oneNameOf is oneName for an op whose only name is the new one.
func (t *thread) oneNameOf(dirfd, i int, op fsfake.Op) {
	_, pl, ok := t.name(dirfd, i, false)
	switch {
	case !ok:
	case !pl.virtual || pl.fd >= 0:
		t.fail(unix.EXDEV)
	default:
		op.Path2 = pl.path
		t.askZero(op)
	}
}

// access is access(2), by the mode and the owner that stat(2) shows: the fake has no other
// permissions than these.
func (t *thread) access(dirfd, i, mode int) {
	_, pl, ok := t.name(dirfd, i, true)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	case mode&^(unix.R_OK|unix.W_OK|unix.X_OK) != 0:
		t.fail(unix.EINVAL)
	default:
		op := fsfake.Op{Call: fsfake.CallStat, Path: pl.path}
		if pl.fd >= 0 {
			op = fsfake.Op{Call: fsfake.CallFstat, FD: t.p.fds[pl.fd].fake}
		}
		t.askThen(op, func(r fsfake.Result) {
			if !may(r.Stat, uint32(mode)) {
				t.refused = unix.EACCES
				t.fail(unix.EACCES)
				return
			}
			t.result(0)
		})
	}
}

// may reports whether the program's user has the permissions of mask (R_OK, W_OK, X_OK) on a
// file.
func may(s fsfake.Stat, mask uint32) bool {
	mode := uint32(s.Mode.Perm())
	switch {
	case os.Getuid() == 0:
		return mask&unix.X_OK == 0 || s.Mode.IsDir() || mode&0o111 != 0
	case uint32(os.Getuid()) == s.UID:
		mode >>= 6
	case uint32(os.Getgid()) == s.GID:
		mode >>= 3
	}
	return mode&mask == mask
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

// chdir is chdir(2). The working directory is kept by name: that of the virtual directory is
// always right, one below it as long as nobody moves it.
func (t *thread) chdir(c *call) {
	_, pl, ok := t.name(unix.AT_FDCWD, 0, true)
	switch {
	case !ok:
	case !pl.virtual:
		t.realThen(pl, 0, func(ret int64) {
			if ret == 0 {
				t.p.cwd = ""
			}
		})
	case pl.fd >= 0:
		t.enter(t.p.fds[pl.fd].path, fsfake.Op{Call: fsfake.CallFstat, FD: t.p.fds[pl.fd].fake})
	default:
		t.enter(t.p.absolute(pl.path), fsfake.Op{Call: fsfake.CallStat, Path: pl.path})
	}
}

func (t *thread) fchdir(c *call) {
	d := t.p.fds[c.fd(0)]
	if d == nil || d.fake < 0 {
		t.passThen(func(ret int64) {
			if ret == 0 {
				t.p.cwd = ""
			}
		})
		return
	}
	t.enter(d.path, fsfake.Op{Call: fsfake.CallFstat, FD: d.fake})
}

// enter makes a directory of the fake the working one, if it is a directory that may be
// entered.
func (t *thread) enter(dir string, op fsfake.Op) {
	t.askThen(op, func(r fsfake.Result) {
		switch {
		case !r.Stat.Mode.IsDir():
			t.fail(unix.ENOTDIR)
		case !may(r.Stat, unix.X_OK):
			t.fail(unix.EACCES)
		default:
			t.p.cwd = dir
			t.result(0)
		}
	})
}

// absolute is a clean absolute path for a name as the fake gets it.
func (p *process) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.cwd, name)
}

// getcwd is the name by which the working directory is kept.
func (t *thread) getcwd(c *call) {
	switch {
	case t.p.cwd == "":
		t.pass()
	case uint64(len(t.p.cwd)) >= c.args[1]:
		t.fail(unix.ERANGE)
	default:
		t.put(c.args[0], append([]byte(t.p.cwd), 0), int64(len(t.p.cwd))+1)
	}
}

// statfs asks whether the file is there; its file system is always the same.
func (t *thread) statfs(c *call) {
	_, pl, ok := t.name(unix.AT_FDCWD, 0, true)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, 0)
	case pl.fd >= 0:
		t.put(c.args[1], fileSystem(), 0)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallStat, Path: pl.path}, func(fsfake.Result) { t.put(c.args[1], fileSystem(), 0) })
	}
}

// fileSystem is struct statfs of the fake's file system: ext4, with room for everything.
func fileSystem() []byte {
	const blocks, files = 1 << 24, 1 << 20
	b := putUint64s(unix.EXT4_SUPER_MAGIC, pageSize, blocks, blocks/2, blocks/2, files, files/2, 1, 255, pageSize, 0)
	return append(b, make([]byte, 120-len(b))...)
}
