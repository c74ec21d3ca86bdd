//go:build linux && amd64

package tracer

import (
	"path"
	"strconv"
	"syscall"

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
	{unix.SYS_NEWFSTATAT, "newfstatat", 4, flags(3, lookFlags, func(t *thread, c *call) {
		t.stat(c.fd(0), 1, 2,
			c.int(3))
	})},
	{unix.SYS_STATX, "statx", 5, flags(2, lookFlags, func(t *thread, c *call) {
		if c.int(2)&statxSync == statxSync || uint32(c.args[3])&unix.STATX__RESERVED != 0 {
			t.fail(unix.EINVAL)
			return
		}
		t.stat(c.fd(0), 1, 4, c.int(2))
	})},

	{unix.SYS_UNLINK, "unlink", 1, func(t *thread, c *call) { t.oneName(unix.AT_FDCWD, 0, false, fsfake.Op{Call: fsfake.CallUnlink}) }},
	{unix.SYS_RMDIR, "rmdir", 1, func(t *thread, c *call) { t.rmdir(unix.AT_FDCWD, 0) }},
	{unix.SYS_UNLINKAT, "unlinkat", 3, func(t *thread, c *call) {
		switch c.int(2) {
		case 0:
			t.oneName(c.fd(0), 1, false, fsfake.Op{Call: fsfake.CallUnlink})
		case unix.AT_REMOVEDIR:
			t.rmdir(c.fd(0), 1)
		default:
			t.pass() // EINVAL
		}
	}},
	{unix.SYS_MKDIR, "mkdir", 2, func(t *thread, c *call) { t.mkdir(unix.AT_FDCWD, 0, c.args[1]) }},
	{unix.SYS_MKDIRAT, "mkdirat", 3, func(t *thread, c *call) { t.mkdir(c.fd(0), 1, c.args[2]) }},
	{unix.SYS_MKNOD, "mknod", 3, func(t *thread, c *call) { t.mknod(unix.AT_FDCWD, 0, c.args[1]) }},
	{unix.SYS_MKNODAT, "mknodat", 4, func(t *thread, c *call) { t.mknod(c.fd(0), 1, c.args[2]) }},
	{unix.SYS_TRUNCATE, "truncate", 2, func(t *thread, c *call) {
		if int64(c.args[1]) < 0 {
			t.fail(unix.EINVAL)
			return
		}
		t.oneName(unix.AT_FDCWD, 0, true, fsfake.Op{Call: fsfake.CallTruncate, Len: int64(c.args[1])})
	}},
	{unix.SYS_CHMOD, "chmod", 2, func(t *thread, c *call) { t.chmod(unix.AT_FDCWD, 0, c.args[1]) }},
	{unix.SYS_FCHMODAT, "fchmodat", 3, func(t *thread, c *call) { t.chmod(c.fd(0), 1, c.args[2]) }},
	{fchmodat2, "fchmodat2", 4, flags(3, pathFlags, (*thread).chmodAt)},
	{unix.SYS_CHOWN, "chown", 3, func(t *thread, c *call) { t.chown(unix.AT_FDCWD, 0, 1, 0) }},
	{unix.SYS_LCHOWN, "lchown", 3, func(t *thread, c *call) { t.chown(unix.AT_FDCWD, 0, 1, unix.AT_SYMLINK_NOFOLLOW) }},
	{unix.SYS_FCHOWNAT, "fchownat", 5, flags(4, pathFlags, func(t *thread, c *call) { t.chown(c.fd(0), 1, 2, c.int(4)) })},

	{unix.SYS_READLINK, "readlink", 3, func(t *thread, c *call) { t.readlink(unix.AT_FDCWD, 0) }},
	{unix.SYS_READLINKAT, "readlinkat", 4, func(t *thread, c *call) { t.readlink(c.fd(0), 1) }},
	{unix.SYS_SYMLINK, "symlink", 2, func(t *thread, c *call) { t.symlink(unix.AT_FDCWD, 1) }},
	{unix.SYS_SYMLINKAT, "symlinkat", 3, func(t *thread, c *call) { t.symlink(c.fd(1), 2) }},
	{unix.SYS_RENAME, "rename", 2, func(t *thread, c *call) { t.rename(unix.AT_FDCWD, 0, unix.AT_FDCWD, 1, 0) }},
	{unix.SYS_RENAMEAT, "renameat", 4, func(t *thread, c *call) { t.rename(c.fd(0), 1, c.fd(2), 3, 0) }},
	{unix.SYS_RENAMEAT2, "renameat2", 5, func(t *thread, c *call) { t.rename(c.fd(0), 1, c.fd(2), 3, c.int(4)) }},
	{unix.SYS_LINK, "link", 2, func(t *thread, c *call) { t.link(unix.AT_FDCWD, 0, unix.AT_FDCWD, 1, 0) }},
	{unix.SYS_LINKAT, "linkat", 5, func(t *thread, c *call) { t.link(c.fd(0), 1, c.fd(2), 3, c.int(4)) }},

	{unix.SYS_ACCESS, "access", 2, func(t *thread, c *call) { t.access(unix.AT_FDCWD, 0, c.int(1), 0) }},
	{unix.SYS_FACCESSAT, "faccessat", 3, func(t *thread, c *call) { t.access(c.fd(0), 1, c.int(2), 0) }},
	{unix.SYS_FACCESSAT2, "faccessat2", 4, flags(3, pathFlags|unix.AT_EACCESS, func(t *thread, c *call) {
		t.access(c.fd(0), 1, c.int(2), c.int(3))
	})},
	{unix.SYS_UTIMENSAT, "utimensat", 4, (*thread).utimensat},

	{unix.SYS_STATFS, "statfs", 2, (*thread).statfs},
	{unix.SYS_UTIME, "utime", 2, func(t *thread, c *call) { t.utimes(unix.AT_FDCWD, 0, 8, 1e9) }},
	{unix.SYS_UTIMES, "utimes", 2, func(t *thread, c *call) { t.utimes(unix.AT_FDCWD, 0, 16, 1e3) }},
	{unix.SYS_FUTIMESAT, "futimesat", 3, func(t *thread, c *call) { t.utimes(c.fd(0), 1, 16, 1e3) }},
	{unix.SYS_CHDIR, "chdir", 1, (*thread).chdir},
	{unix.SYS_FCHDIR, "fchdir", 1, (*thread).fchdir},
	{unix.SYS_SETXATTR, "setxattr", 5, noAttributes},
	{unix.SYS_LSETXATTR, "lsetxattr", 5, noAttributes},
	{unix.SYS_GETXATTR, "getxattr", 4, noAttributes},
	{unix.SYS_LGETXATTR, "lgetxattr", 4, noAttributes},
	{unix.SYS_LISTXATTR, "listxattr", 3, noAttributes},
	{unix.SYS_LLISTXATTR, "llistxattr", 3, noAttributes},
	{unix.SYS_REMOVEXATTR, "removexattr", 2, noAttributes},
	{unix.SYS_LREMOVEXATTR, "lremovexattr", 2, noAttributes},
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
	switch {
	case err == errAskCwd:
		t.askCwd()
		return "", pl, false
	case err != nil:
		t.failErr(err)
		return "", pl, false
	}
	if t.r.c.Through != "" && pl.virtual && (path.IsAbs(name) || pl.fd < 0 && leadsIn(pl)) {
		real := pl.real
		if real == "" {
			real = t.r.standsFor(pl.path)
			t.fakeOnly = t.fakeOnly || !t.r.virtual(path.Clean(pl.path))
		}
		t.subst = append(t.subst, substitute{i, real})
	}
	return name, pl, true
}

// leadsIn reports whether a relative path came into the virtual directory from outside: from a real directory, or by "..".
// The fake is asked for an absolute path then.
func leadsIn(pl place) bool {
	_, _, below := fsfake.SplitAt(pl.path)
	return path.IsAbs(pl.path) && !below
}

// real makes the call, on another path when the place says so. What it changes is noted.
func (t *thread) real(pl place, i int) {
	switch {
	case looksOnly[t.c.nr] && t.holdsShared(pl.path):
	case looksOnly[t.c.nr]:
		t.realThen(pl, i, nil)
	case !t.protects(pl.path, changeOf[t.c.nr]):
		t.realThen(pl, i, t.noting(pl.path))
	}
}

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
	at := t.below(info.sp, uint64(len(b)))
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

// below is where n bytes can be written below a stack: well below, or where the stack ends there (what is beyond it is
// mapped when the program itself comes to it) right below what functions may use without moving the stack pointer, the
// red zone of 128 bytes (System V ABI for AMD64, 3.2.2).
func (t *thread) below(sp, n uint64) uint64 {
	const well, redZone = 2048, 128
	if at := (sp - well - n) &^ 15; readable(t.tid, at) {
		return at
	}
	return (sp - redZone - n) &^ 15
}

// readable reports whether something is mapped at an address.
func readable(tid int, at uint64) bool {
	_, err := readFull(tid, at, 1)
	return err == nil
}

// onDescriptor is how calls fail on the name of a descriptor below /proc/self/fd: it is a symbolic link that nobody can
// remove.
var onDescriptor = map[fsfake.Call]syscall.Errno{
	fsfake.CallSymlink: unix.EEXIST, fsfake.CallMkdir: unix.EEXIST, fsfake.CallMknod: unix.EEXIST,
	fsfake.CallUnlink: unix.EPERM, fsfake.CallRmdir: unix.ENOTDIR,
}

// throughLink are the calls by descriptor that do what those by name do to the file behind such a link.
var throughLink = map[fsfake.Call]fsfake.Call{
	fsfake.CallChmod: fsfake.CallFchmod, fsfake.CallChown: fsfake.CallFchown, fsfake.CallUtimes: fsfake.CallFutimes,
	fsfake.CallTruncate: fsfake.CallFtruncate,
}

// behindLink makes a call that follows the name of a descriptor below /proc/self/fd. Where the descriptor is open in a
// way in which the call by descriptor fails, and the one by name does not, that is not modelled.
func (t *thread) behindLink(d *descriptor, op fsfake.Op) {
	by, known := throughLink[op.Call]
	truncates := op.Call == fsfake.CallTruncate && d.file.flags&unix.O_ACCMODE == unix.O_RDONLY
	if !known || truncates || d.file.flags&unix.O_PATH != 0 {
		t.unmodelled("through /proc/self/fd it is not handled")
		return
	}
	op.Call, op.FD = by, d.fake
	t.askChange(d, op)
}

// oneName is a call with one name that answers an error or nothing.
func (t *thread) oneName(dirfd, i int, follow bool, op fsfake.Op) {
	_, pl, ok := t.name(dirfd, i, follow)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	case pl.fd >= 0 && !follow && onDescriptor[op.Call] != 0:
		t.fail(onDescriptor[op.Call])
	case pl.fd >= 0 && follow:
		t.behindLink(t.p.fds[pl.fd], op)
	case pl.fd >= 0:
		t.unmodelled("through /proc/self/fd it is not handled")
	default:
		op.Path = pl.path
		t.askZero(op)
	}
}

// rmdir is rmdir(2). That the virtual directory itself goes is not handled: it is the world.
func (t *thread) rmdir(dirfd, i int) {
	t.oneName(dirfd, i, false, fsfake.Op{Call: fsfake.CallRmdir})
	if t.state == asking && t.movesRegion(t.op.Path) {
		return
	}
	if t.state == asking && path.Clean(t.op.Path) == t.r.c.Dir {
		t.askThen(t.op, func(fsfake.Result) { t.fault("the virtual directory itself cannot be removed") })
	}
}

func (t *thread) mkdir(dirfd, i int, mode uint64) {
	if t.p.isJava() && t.makesPerfData(i) {
		t.fail(unix.EACCES)
		return
	}
	t.oneName(dirfd, i, false, fsfake.Op{Call: fsfake.CallMkdir, Mode: uint32(mode) & 0o7777 &^ t.p.umask})
}

func (t *thread) mknod(dirfd, i int, mode uint64) {
	op := fsfake.Op{Call: fsfake.CallMknod, Flags: int(mode & unix.S_IFMT), Mode: uint32(mode) & 0o7777 &^ t.p.umask}
	t.oneName(dirfd, i, false, op)
}

// notInside is a call that is not handled on files of the fake.
func notInside(i int) func(*thread, *call) {
	return func(t *thread, _ *call) {
		_, pl, ok := t.name(unix.AT_FDCWD, i, true)
		switch {
		case !ok:
		case pl.virtual:
			t.unmodelled("on a file in the virtual directory it is not modelled")
		default:
			t.real(pl, i)
		}
	}
}

// The flags that calls by name take, as the kernel checks them. Package unix has no number for fchmodat2(2).
const (
	fchmodat2 = 452
	pathFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_EMPTY_PATH
	lookFlags = pathFlags | unix.AT_NO_AUTOMOUNT | statxSync
	statxSync = unix.AT_STATX_FORCE_SYNC | unix.AT_STATX_DONT_SYNC
)

// flags is a call that fails with EINVAL when argument i has other flags than some.
func flags(i, some int, do func(*thread, *call)) func(*thread, *call) {
	return func(t *thread, c *call) {
		if c.int(i)&^some != 0 {
			t.fail(unix.EINVAL)
			return
		}
		do(t, c)
	}
}
