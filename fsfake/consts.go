package fsfake

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// Flags of open(2). The values are those of Linux on x86, on whatever system the fake
// runs. [Proc.OpenFile] takes the flags of package os, and beside them those that package
// os does not have.
const (
	O_RDONLY    = 0
	O_WRONLY    = 1
	O_RDWR      = 2
	O_ACCMODE   = 3
	O_CREAT     = 0x40
	O_EXCL      = 0x80
	O_NOCTTY    = 0x100
	O_TRUNC     = 0x200
	O_APPEND    = 0x400
	O_NONBLOCK  = 0x800
	O_DSYNC     = 0x1000
	O_DIRECT    = 0x4000
	O_LARGEFILE = 0x8000
	O_DIRECTORY = 0x10000
	O_NOFOLLOW  = 0x20000
	O_NOATIME   = 0x40000
	O_CLOEXEC   = 0x80000
	O_SYNC      = 0x101000
	O_PATH      = 0x200000
	O_TMPFILE   = 0x410000
)

// FD_CLOEXEC is the flag of a descriptor that execve(2) closes.
const FD_CLOEXEC = 1

// Operations of [File.Flock].
const (
	LOCK_SH = 1
	LOCK_EX = 2
	LOCK_NB = 4
	LOCK_UN = 8
)

// Types of record locks, for [File.FcntlLock] and [File.OFDLock].
const (
	F_RDLCK = 0
	F_WRLCK = 1
	F_UNLCK = 2
)

// Flags of [Proc.Rename2].
const (
	RENAME_NOREPLACE = 1
	RENAME_EXCHANGE  = 2
	RENAME_WHITEOUT  = 4
)

// AT_SYMLINK_FOLLOW is the flag of linkat(2) that links what a symlink leads to.
const AT_SYMLINK_FOLLOW = 0x400

// SEEK_DATA and SEEK_HOLE of lseek(2), beside those of package io.
const (
	SEEK_DATA = 3
	SEEK_HOLE = 4
)

// Flags of stat, lstat, fstat and readdir: what of the answer the caller looks at, as the mask of
// statx(2) says it. 0 is all of it. What nobody looks at is not told: an inode number that
// a program is shown is remembered for it, and so a state of its own.
const (
	LookType   = 1 << iota // no inode number, no times
	lookDirIno             // beyond that, the inode number of a directory
	LookIno                // of readdir: inode numbers, too
)

// Flags of pread. Shares makes it a shared mapping that shows what it reads: from then on a change of the file's
// contents is modelled only through the description that was mapped, for then the program sees it. Unshares says that
// nothing is mapped through it any more.
const (
	Shares = 1 << iota
	Unshares
)

// AtLeast, as a flag of ftruncate, makes it fallocate(2) of so many bytes from the file's beginning: a file that is
// longer keeps its content, and is stamped as on ext4 and XFS.
const AtLeast = 1

// UTIME_OMIT, as a time of utimes or futimes, leaves that time of the file as it is.
const UTIME_OMIT = math.MinInt64

// UTIME_NOW, as such a time, is that of the change.
const UTIME_NOW = math.MinInt64 + 1

// Error numbers. They are those of Linux, on whatever system the fake runs; there they are
// those of package syscall, too.
const (
	EPERM        = syscall.Errno(1)
	ENOENT       = syscall.Errno(2)
	ESRCH        = syscall.Errno(3)
	EINTR        = syscall.Errno(4)
	EIO          = syscall.Errno(5)
	ENXIO        = syscall.Errno(6)
	EBADF        = syscall.Errno(9)
	ECHILD       = syscall.Errno(10)
	EAGAIN       = syscall.Errno(11) // EWOULDBLOCK is the same
	ENOMEM       = syscall.Errno(12)
	EACCES       = syscall.Errno(13)
	EBUSY        = syscall.Errno(16)
	EEXIST       = syscall.Errno(17)
	EXDEV        = syscall.Errno(18)
	ENOTDIR      = syscall.Errno(20)
	EISDIR       = syscall.Errno(21)
	EINVAL       = syscall.Errno(22)
	ENFILE       = syscall.Errno(23)
	EMFILE       = syscall.Errno(24)
	EFBIG        = syscall.Errno(27)
	ENOSPC       = syscall.Errno(28)
	ESPIPE       = syscall.Errno(29)
	EROFS        = syscall.Errno(30)
	EMLINK       = syscall.Errno(31)
	ERANGE       = syscall.Errno(34)
	EDEADLK      = syscall.Errno(35)
	ENAMETOOLONG = syscall.Errno(36)
	ENOLCK       = syscall.Errno(37)
	ENOSYS       = syscall.Errno(38)
	ENOTEMPTY    = syscall.Errno(39)
	ELOOP        = syscall.Errno(40)
	EOVERFLOW    = syscall.Errno(75)
	ERESTART     = syscall.Errno(85) // no program sees it; see [Signalled]
	ENOTSOCK     = syscall.Errno(88)
	EOPNOTSUPP   = syscall.Errno(95)
	EADDRINUSE   = syscall.Errno(98)
	ECONNREFUSED = syscall.Errno(111)
)

// errnos are the error numbers with their names, and what each is called on the system
// that the fake runs on.
var errnos = [...]struct {
	errno syscall.Errno
	name  string
	host  syscall.Errno
}{
	{EPERM, "EPERM", syscall.EPERM}, {ENOENT, "ENOENT", syscall.ENOENT}, {ESRCH, "ESRCH", syscall.ESRCH},
	{EINTR, "EINTR", syscall.EINTR}, {EIO, "EIO", syscall.EIO}, {ENXIO, "ENXIO", syscall.ENXIO},
	{EBADF, "EBADF", syscall.EBADF},
	{ECHILD, "ECHILD", syscall.ECHILD}, {EAGAIN, "EWOULDBLOCK", syscall.EAGAIN}, {ENOMEM, "ENOMEM", syscall.ENOMEM},
	{EACCES, "EACCES", syscall.EACCES}, {EBUSY, "EBUSY", syscall.EBUSY}, {EEXIST, "EEXIST", syscall.EEXIST},
	{EXDEV, "EXDEV", syscall.EXDEV}, {ENOTDIR, "ENOTDIR", syscall.ENOTDIR}, {EISDIR, "EISDIR", syscall.EISDIR},
	{EINVAL, "EINVAL", syscall.EINVAL}, {ENFILE, "ENFILE", syscall.ENFILE}, {EMFILE, "EMFILE", syscall.EMFILE},
	{EFBIG, "EFBIG", syscall.EFBIG}, {ENOSPC, "ENOSPC", syscall.ENOSPC}, {ESPIPE, "ESPIPE", syscall.ESPIPE},
	{EROFS, "EROFS", syscall.EROFS}, {EMLINK, "EMLINK", syscall.EMLINK}, {ERANGE, "ERANGE", syscall.ERANGE},
	{EDEADLK, "EDEADLK", syscall.EDEADLK}, {ENAMETOOLONG, "ENAMETOOLONG", syscall.ENAMETOOLONG},
	{ENOLCK, "ENOLCK", syscall.ENOLCK}, {ENOSYS, "ENOSYS", syscall.ENOSYS}, {ENOTEMPTY, "ENOTEMPTY", syscall.ENOTEMPTY},
	{ELOOP, "ELOOP", syscall.ELOOP}, {EOVERFLOW, "EOVERFLOW", syscall.EOVERFLOW},
	{EOPNOTSUPP, "EOPNOTSUPP", syscall.EOPNOTSUPP},
	{ENOTSOCK, "ENOTSOCK", syscall.ENOTSOCK}, {EADDRINUSE, "EADDRINUSE", syscall.EADDRINUSE},
	{ECONNREFUSED, "ECONNREFUSED", syscall.ECONNREFUSED},
}

// ErrnoName returns the symbolic name of an errno, such as "ENOENT".
func ErrnoName(e syscall.Errno) string {
	for _, n := range errnos {
		if n.errno == e {
			return n.name
		}
	}
	return "errno " + strconv.Itoa(int(e))
}

// The constants of the fake are Linux's wherever it runs, so that a schedule and a trace
// mean the same everywhere. The functions of package os, which a Proc stands in for, speak
// the constants of the system that the program was compiled for: a Proc translates between
// the two. Under Linux there is nothing to translate.

// A hostPort is a Port that takes and gives the constants of this system.
type hostPort struct{ Port }

// hosted returns the Port that the methods of a Proc use.
func hosted(p Port) Port {
	if runtime.GOOS == "linux" {
		return p
	}
	return hostPort{p}
}

// unhosted returns the Port behind that, which speaks the fake's constants.
func unhosted(p Port) Port {
	if h, ok := p.(hostPort); ok {
		return h.Port
	}
	return p
}

// Do makes one call.
func (h hostPort) Do(op Op) Result {
	if op.Call == CallOpen {
		op.Flags = flagsFrom(op.Flags, hostFlags[:])
	}
	r := h.Port.Do(op)
	r.Errno = errnoFor(r.Errno)
	return r
}

// A flagPair is a flag of open(2) in the fake and elsewhere.
type flagPair struct{ fake, host int }

// hostFlags are the flags that package os has.
var hostFlags = [...]flagPair{
	{O_WRONLY, os.O_WRONLY}, {O_RDWR, os.O_RDWR}, {O_CREAT, os.O_CREATE}, {O_EXCL, os.O_EXCL},
	{O_TRUNC, os.O_TRUNC}, {O_APPEND, os.O_APPEND}, {O_SYNC, os.O_SYNC},
}

// flagsFrom translates the flags of package os to the fake's. What is left, such as
// O_NOFOLLOW, which package os does not have, is the fake's already.
func flagsFrom(f int, pairs []flagPair) int {
	fake := 0
	for _, p := range pairs {
		if f&p.host == p.host {
			f, fake = f&^p.host, fake|p.fake
		}
	}
	return f | fake
}

// errnoFor translates an error number of the fake to this system's.
func errnoFor(e syscall.Errno) syscall.Errno {
	if e == 0 {
		return 0
	}
	for _, n := range errnos {
		if n.errno == e {
			return n.host
		}
	}
	return e
}
