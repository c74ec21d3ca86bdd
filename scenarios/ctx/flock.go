package ctx

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// flock is option B of the report: a kernel lock on a file that is never removed.
// https://github.com/ActiveMemory/ctx/issues/93
var flock = scenarios.Protocol{
	Path: lockPath,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lockPath, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return scenarios.Hold{}, err
		}
		if err := f.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB); err != nil {
			if errors.Is(err, syscall.EWOULDBLOCK) {
				err = fmt.Errorf("%w: %w", scenarios.ErrLocked, err)
			}
			return scenarios.Hold{}, errors.Join(err, f.Close())
		}
		return scenarios.Hold{File: f}, nil
	},
	// The last close of the description drops the lock, and so does death.
	Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
}
