// Package pidlock is a lock as many programs have it: a file with the owner's pid, and
// the file of a dead owner is removed.
package pidlock

import (
	"errors"
	"io/fs"
	"os"
	"strconv"

	"lockpick/fsfake/osfs"
)

// ErrHeld is returned while another process has the lock.
var ErrHeld = errors.New("pidlock: held by another process")

// Acquire takes the lock, or returns ErrHeld.
func Acquire(sys osfs.FS, name string) error {
	for range 2 { // once more when there was a stale lock
		f, err := sys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.WriteString(strconv.Itoa(sys.Getpid()))
			return errors.Join(err, f.Close())
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		data, err := sys.ReadFile(name)
		if err != nil {
			return ErrHeld
		}
		if pid, err := strconv.Atoi(string(data)); err == nil && sys.Kill(pid) == nil {
			return ErrHeld
		}
		_ = sys.Remove(name) // its owner is dead
	}
	return ErrHeld
}

// Release gives the lock back.
func Release(sys osfs.FS, name string) error { return sys.Remove(name) }
