package openclawtakeover

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// kernelLock is a kernel lock on a file that nobody ever removes. A dead owner holds
// nothing, so there is nothing to take over.
func kernelLock() scenarios.Protocol {
	return scenarios.Protocol{
		Path: lockPath,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lockPath, os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}
}
