//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package osfs

import (
	"errors"
	"os"
	"syscall"
)

// flock waits out the signals of the runtime, as package os does for its calls.
func flock(fd, how int) error {
	for {
		if err := syscall.Flock(fd, how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func exists(pid int) error { return os.NewSyscallError("kill", syscall.Kill(pid, 0)) }
