//go:build linux && amd64

package tracer

import (
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Calls on files by descriptor. Those on real descriptors are made.

var byDescriptor = []spec{
	{unix.SYS_READ, "read", 3, func(t *thread, c *call) { t.read(whole, fsfake.Op{Call: fsfake.CallRead}) }},
	{unix.SYS_READV, "readv", 3, func(t *thread, c *call) { t.read(vector, fsfake.Op{Call: fsfake.CallRead}) }},
	{unix.SYS_PREAD64, "pread64", 4, func(t *thread, c *call) { t.read(whole, fsfake.Op{Call: fsfake.CallPread, Off: int64(c.args[3])}) }},
	{unix.SYS_PREADV, "preadv", 4, func(t *thread, c *call) { t.read(vector, fsfake.Op{Call: fsfake.CallPread, Off: int64(c.args[3])}) }},
	{unix.SYS_PREADV2, "preadv2", 6, func(t *thread, c *call) { t.read2() }},
	{unix.SYS_WRITE, "write", 3, func(t *thread, c *call) { t.write(whole, fsfake.Op{Call: fsfake.CallWrite}) }},
	{unix.SYS_WRITEV, "writev", 3, func(t *thread, c *call) { t.write(vector, fsfake.Op{Call: fsfake.CallWrite}) }},
	{unix.SYS_PWRITE64, "pwrite64", 4, func(t *thread, c *call) { t.write(whole, fsfake.Op{Call: fsfake.CallPwrite, Off: int64(c.args[3])}) }},
	{unix.SYS_PWRITEV, "pwritev", 4, func(t *thread, c *call) { t.write(vector, fsfake.Op{Call: fsfake.CallPwrite, Off: int64(c.args[3])}) }},
	{unix.SYS_PWRITEV2, "pwritev2", 6, func(t *thread, c *call) { t.write2() }},

	{unix.SYS_CLOSE, "close", 1, (*thread).close},
	{unix.SYS_CLOSE_RANGE, "close_range", 3, (*thread).closeRange},
	{unix.SYS_DUP, "dup", 1, func(t *thread, c *call) { t.dup() }},
	{unix.SYS_DUP2, "dup2", 2, func(t *thread, c *call) { t.dup2(0) }},
	{unix.SYS_DUP3, "dup3", 3, func(t *thread, c *call) { t.dup2(c.int(2)) }},
	{unix.SYS_FCNTL, "fcntl", 3, (*thread).fcntl},
	{unix.SYS_IOCTL, "ioctl", 3, (*thread).ioctl},

	{unix.SYS_FSTAT, "fstat", 2, func(t *thread, c *call) {
		if d := t.p.fds[c.fd(0)]; d.isFake() {
			t.askStat(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake}, 1)
			return
		}
		t.fstat(c.fd(0), 1)
	}},
	{unix.SYS_LSEEK, "lseek", 3, (*thread).lseek},
	{unix.SYS_FTRUNCATE, "ftruncate", 2, func(t *thread, c *call) {
		t.onFake(func(d *descriptor) {
			t.askChange(d, fsfake.Op{Call: fsfake.CallFtruncate, FD: d.fake, Len: int64(c.args[1])})
		})
	}},
	{unix.SYS_FSYNC, "fsync", 1, syncFile(0)},
	{unix.SYS_FDATASYNC, "fdatasync", 1, syncFile(fsfake.SyncData)},
	{unix.SYS_SYNC_FILE_RANGE, "sync_file_range", 4, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.result(0) }) }},
	{unix.SYS_SYNCFS, "syncfs", 1, syncFile(fsfake.SyncAll)},
	{unix.SYS_SYNC, "sync", 0, func(t *thread, c *call) {
		t.askZero(fsfake.Op{Call: fsfake.CallFsync, FD: -1, Flags: fsfake.SyncAll})
	}},
	{unix.SYS_FADVISE64, "fadvise64", 4, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.result(0) }) }},
	{unix.SYS_READAHEAD, "readahead", 3, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.result(0) }) }},
	{unix.SYS_GETDENTS64, "getdents64", 3, (*thread).getdents},
	{unix.SYS_FLOCK, "flock", 2, func(t *thread, c *call) {
		if c.int(1)&lockMand != 0 { // which Linux has ignored since 5.18
			t.result(0)
			return
		}
		if d := t.p.fds[c.fd(0)]; d.isFake() {
			t.unshown(d, func() { t.askZero(fsfake.Op{Call: fsfake.CallFlock, FD: d.fake, Flags: c.int(1)}) })
			return
		}
		if !t.noteLocked(c.fd(0)) {
			t.passWaiting(nil)
		}
	}},

	{unix.SYS_FCHMOD, "fchmod", 2, func(t *thread, c *call) {
		t.onFake(func(d *descriptor) {
			t.askZero(fsfake.Op{Call: fsfake.CallFchmod, FD: d.fake, Mode: uint32(c.args[1]) & 0o7777})
		})
	}},
	{unix.SYS_FCHOWN, "fchown", 3, func(t *thread, c *call) {
		t.onFake(func(d *descriptor) { t.askZero(t.owners(fsfake.Op{Call: fsfake.CallFchown, FD: d.fake}, 1)) })
	}},
	{unix.SYS_FSTATFS, "fstatfs", 2, func(t *thread, c *call) {
		if !t.p.fds[c.fd(0)].isFake() {
			t.passThen(t.steadyRoom)
			return
		}
		t.put(c.args[1], fileSystem(), 0)
	}},
	{unix.SYS_FALLOCATE, "fallocate", 4, func(t *thread, c *call) {
		t.onFake(func(d *descriptor) {
			switch off, n := int64(c.args[2]), int64(c.args[3]); {
			case d.file.flags&unix.O_PATH != 0:
				t.fail(unix.EBADF)
			case off < 0 || n <= 0:
				t.fail(unix.EINVAL)
			case c.int(1) >= 1<<8: // no mode there is
				t.fail(unix.EOPNOTSUPP)
			case d.file.flags&unix.O_ACCMODE == unix.O_RDONLY:
				t.fail(unix.EBADF)
			case c.int(1) == unix.FALLOC_FL_KEEP_SIZE && off+n <= maxTransfer: // nobody sees it
				t.result(0)
			case c.int(1) == 0 && off+n <= maxTransfer:
				t.askChange(d, fsfake.Op{Call: fsfake.CallFtruncate, FD: d.fake, Len: off + n, Flags: fsfake.AtLeast})
			default:
				t.refuse(unix.EOPNOTSUPP) // programs write zeros instead
			}
		})
	}},
	{unix.SYS_FSETXATTR, "fsetxattr", 5, noAttributesOf},
	{unix.SYS_FGETXATTR, "fgetxattr", 4, noAttributesOf},
	{unix.SYS_FLISTXATTR, "flistxattr", 3, noAttributesOf},
	{unix.SYS_FREMOVEXATTR, "fremovexattr", 2, noAttributesOf},
	{unix.SYS_MMAP, "mmap", 6, (*thread).mmap},
	{unix.SYS_SENDFILE, "sendfile", 4, (*thread).sendfile},
	{unix.SYS_COPY_FILE_RANGE, "copy_file_range", 6, (*thread).copyFileRange},
}

// lockMand is LOCK_MAND of flock(2).
const lockMand = 32

func syncFile(flags int) func(*thread, *call) {
	return func(t *thread, _ *call) {
		t.onFake(func(d *descriptor) { t.askZero(fsfake.Op{Call: fsfake.CallFsync, FD: d.fake, Flags: flags}) })
	}
}

func (t *thread) passCall(*call) { t.pass() }

func unmodelled(what string) func(*thread, *call) {
	return func(t *thread, _ *call) { t.unmodelled("%s", what) }
}

// fake returns the descriptor that argument i names, when it is of the fake; else the call is
// made.
func (t *thread) fake(i int) *descriptor {
	if d := t.p.fds[t.c.fd(i)]; d.isFake() {
		return d
	}
	if !changesFile[t.c.nr] || !t.protectsFile(t.c.fd(i), changes) {
		t.pass()
	}
	return nil
}

// onFake is fake for argument 0, with what is to be done.
func (t *thread) onFake(f func(*descriptor)) {
	if d := t.fake(0); d != nil {
		f(d)
	}
}

// onFakeAt is onFake for the directory that a name is relative to, when the name is empty.
func (t *thread) onFakeAt(dirfd int, f func(*descriptor)) {
	d := t.p.fds[dirfd]
	switch {
	case d.isFake():
		f(d)
	case dirfd == unix.AT_FDCWD && t.p.cwd != "":
		t.unmodelled("of the working directory, by an empty name, it is not modelled")
	default:
		t.pass()
	}
}

// realOnly is a call that is not handled on a descriptor of the fake.
func realOnly(t *thread, _ *call) {
	t.onFake(func(d *descriptor) { t.unmodelled("on a file of the fake (%s) it is not modelled", d.path) })
}

func noAttributesOf(t *thread, _ *call) {
	t.onFake(func(*descriptor) { t.noAttribute() })
}

// noneFake is a call with several descriptors, none of which may be of the fake.
func noneFake(which ...int) func(*thread, *call) {
	return func(t *thread, c *call) {
		for _, i := range which {
			if d := t.p.fds[c.fd(i)]; d.isFake() {
				t.unmodelled("on a file of the fake (%s) it is not modelled", d.path)
				return
			}
		}
		t.passWaiting(nil)
	}
}
