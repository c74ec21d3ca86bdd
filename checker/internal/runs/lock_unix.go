//go:build unix

package runs

import (
	"os"

	"golang.org/x/sys/unix"
)

// acquire locks a file until it is closed, or the process ends.
func acquire(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
