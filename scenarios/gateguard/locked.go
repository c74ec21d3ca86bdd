package gateguard

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// lockPath is the lock beside the state file.
const lockPath = stateDir + "/state-session.lock"

// under is the original hook with a lock from load to save: the report's option 1.
// isChecked needs the lock too, for it may write.
// https://github.com/affaan-m/ECC/issues/1441
func under(l scenarios.Protocol) gate {
	return gate{
		mark: func(t *scenarios.Task, key string) {
			h, err := l.Acquire(t)
			if err != nil {
				return
			}
			original.mark(t, key)
			_ = l.Release(t, h)
		},
		check: func(t *scenarios.Task, key string) bool {
			h, err := l.Acquire(t)
			if err != nil {
				return false
			}
			found := original.check(t, key)
			_ = l.Release(t, h)
			return found
		},
	}
}

// flock waits for a kernel lock on a file that is never removed.
var flock = scenarios.Protocol{
	Path: lockPath,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lockPath, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return scenarios.Hold{}, err
		}
		if err := f.Flock(fsfake.LOCK_EX); err != nil {
			return scenarios.Hold{}, errors.Join(err, f.Close())
		}
		return scenarios.Hold{File: f}, nil
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
}

// excl creates a sentinel file, and polls while there is one.
var excl = scenarios.Protocol{
	Path: lockPath,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile(lockPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err == nil {
				return scenarios.Hold{}, f.Close()
			}
			if !errors.Is(err, fs.ErrExist) {
				return scenarios.Hold{}, err
			}
			t.Sleep(50 * time.Millisecond)
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lockPath) },
}
