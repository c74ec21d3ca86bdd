package ctx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"lockpick/scenarios"
)

// excl is the lock as merged: one call that creates the file or fails.
// https://github.com/ActiveMemory/ctx/pull/113
var excl = scenarios.Protocol{
	Path: lockPath,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lockPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			// The error names the lock's path and still matches fs.ErrExist.
			return scenarios.Hold{}, fmt.Errorf("%w: %w", scenarios.ErrLocked, err)
		}
		if err != nil {
			return scenarios.Hold{}, err
		}
		// The file stays empty: no pid, no clean-up of what the dead leave.
		if err := f.Close(); err != nil {
			return scenarios.Hold{}, errors.Join(err, t.Unlink(lockPath))
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		err := t.Unlink(lockPath)
		if errors.Is(err, fs.ErrNotExist) { // removed by hand: nothing to do
			return nil
		}
		return err
	},
}
