//go:build linux

package kernel

import (
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// aside is a descriptor number that no path of a test leads through.
const aside = 900

// socket makes a socket whose number is out of the way.
func socket() (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return fd, err
	}
	defer unix.Close(fd)
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD, aside)
}

// bind makes a socket and gives it a name. Its mode is made of the umask, the only way to say one.
func (t *thread) bind(op *fsfake.Op) fsfake.Result {
	fd, err := socket()
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	old := unix.Umask(0o777)
	unix.Umask(old | int(^op.Mode&0o777))
	r := t.inDir(op.Path, func(name string) error { return unix.Bind(fd, &unix.SockaddrUnix{Name: name}) })
	unix.Umask(old)
	if r.Errno != 0 || r.Unmodelled != "" {
		return r
	}
	return number(unix.Dup(fd))
}

func (t *thread) connect(op *fsfake.Op) fsfake.Result {
	fd, err := socket()
	if err != nil {
		return failed(err)
	}
	defer unix.Close(fd)
	return t.inDir(op.Path, func(name string) error { return unix.Connect(fd, &unix.SockaddrUnix{Name: name}) })
}
