package tempdir

import (
	"os"

	"golang.org/x/sys/unix"
)

// hold locks a directory.
func hold(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	switch err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
		return f, nil
	case unix.EWOULDBLOCK:
		err = errHeld
	}
	f.Close()
	return nil, err
}
