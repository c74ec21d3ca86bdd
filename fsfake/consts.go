package fsfake

import (
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
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

// errnoNames are the names of Linux's error numbers, from 1 on. "-" is none.
const errnoNames = "EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EWOULDBLOCK ENOMEM EACCES EFAULT " +
	"ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG " +
	"ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP " +
	"- ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH ENOCSI EL2HLT EBADE EBADR EXFULL " +
	"ENOANO EBADRQC EBADSLT - EBFONT ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG EREMOTE ENOLINK EADV " +
	"ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC ELIBBAD " +
	"ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE " +
	"EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT " +
	"EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN " +
	"ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY " +
	"EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE " +
	"ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON"

// hostErrnos are what error numbers of the fake are on the system that it runs on.
var hostErrnos = [...]struct{ errno, host syscall.Errno }{
	{EPERM, syscall.EPERM}, {ENOENT, syscall.ENOENT}, {ESRCH, syscall.ESRCH}, {EINTR, syscall.EINTR},
	{EIO, syscall.EIO}, {ENXIO, syscall.ENXIO}, {EBADF, syscall.EBADF}, {ECHILD, syscall.ECHILD},
	{EAGAIN, syscall.EAGAIN}, {ENOMEM, syscall.ENOMEM}, {EACCES, syscall.EACCES}, {EBUSY, syscall.EBUSY},
	{EEXIST, syscall.EEXIST}, {EXDEV, syscall.EXDEV}, {ENOTDIR, syscall.ENOTDIR}, {EISDIR, syscall.EISDIR},
	{EINVAL, syscall.EINVAL}, {ENFILE, syscall.ENFILE}, {EMFILE, syscall.EMFILE}, {EFBIG, syscall.EFBIG},
	{ENOSPC, syscall.ENOSPC}, {ESPIPE, syscall.ESPIPE}, {EROFS, syscall.EROFS}, {EMLINK, syscall.EMLINK},
	{ERANGE, syscall.ERANGE}, {EDEADLK, syscall.EDEADLK}, {ENAMETOOLONG, syscall.ENAMETOOLONG},
	{ENOLCK, syscall.ENOLCK}, {ENOSYS, syscall.ENOSYS}, {ENOTEMPTY, syscall.ENOTEMPTY}, {ELOOP, syscall.ELOOP},
	{EOVERFLOW, syscall.EOVERFLOW}, {EOPNOTSUPP, syscall.EOPNOTSUPP}, {ENOTSOCK, syscall.ENOTSOCK},
	{EADDRINUSE, syscall.EADDRINUSE}, {ECONNREFUSED, syscall.ECONNREFUSED},
}

// ErrnoName returns the symbolic name of an errno, such as "ENOENT".
func ErrnoName(e syscall.Errno) string {
	if names := strings.Fields(errnoNames); e > 0 && int(e) <= len(names) && names[e-1] != "-" {
		return names[e-1]
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
	for _, n := range hostErrnos {
		if n.errno == e {
			return n.host
		}
	}
	return e
}
