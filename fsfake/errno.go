package fsfake

import (
	"strconv"
	"syscall"
)

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
	{EINTR, "EINTR", syscall.EINTR}, {EIO, "EIO", syscall.EIO}, {ENXIO, "ENXIO", syscall.ENXIO}, {EBADF, "EBADF", syscall.EBADF},
	{ECHILD, "ECHILD", syscall.ECHILD}, {EAGAIN, "EWOULDBLOCK", syscall.EAGAIN}, {ENOMEM, "ENOMEM", syscall.ENOMEM},
	{EACCES, "EACCES", syscall.EACCES}, {EBUSY, "EBUSY", syscall.EBUSY}, {EEXIST, "EEXIST", syscall.EEXIST},
	{EXDEV, "EXDEV", syscall.EXDEV}, {ENOTDIR, "ENOTDIR", syscall.ENOTDIR}, {EISDIR, "EISDIR", syscall.EISDIR},
	{EINVAL, "EINVAL", syscall.EINVAL}, {ENFILE, "ENFILE", syscall.ENFILE}, {EMFILE, "EMFILE", syscall.EMFILE},
	{EFBIG, "EFBIG", syscall.EFBIG}, {ENOSPC, "ENOSPC", syscall.ENOSPC}, {ESPIPE, "ESPIPE", syscall.ESPIPE},
	{EROFS, "EROFS", syscall.EROFS}, {EMLINK, "EMLINK", syscall.EMLINK}, {ERANGE, "ERANGE", syscall.ERANGE},
	{EDEADLK, "EDEADLK", syscall.EDEADLK}, {ENAMETOOLONG, "ENAMETOOLONG", syscall.ENAMETOOLONG},
	{ENOLCK, "ENOLCK", syscall.ENOLCK}, {ENOSYS, "ENOSYS", syscall.ENOSYS}, {ENOTEMPTY, "ENOTEMPTY", syscall.ENOTEMPTY},
	{ELOOP, "ELOOP", syscall.ELOOP}, {EOVERFLOW, "EOVERFLOW", syscall.EOVERFLOW}, {EOPNOTSUPP, "EOPNOTSUPP", syscall.EOPNOTSUPP},
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
