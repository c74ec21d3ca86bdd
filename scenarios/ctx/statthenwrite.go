package ctx

import (
	"fmt"

	"lockpick/scenarios"
)

// statThenWrite is the lock as reported: look, then write.
// https://github.com/ActiveMemory/ctx/issues/93
var statThenWrite = scenarios.Protocol{
	Path: lockPath,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		// Fail if another sync is running.
		if _, err := t.Stat(lockPath); err == nil {
			return scenarios.Hold{}, fmt.Errorf("%s exists: %w", lockPath, scenarios.ErrLocked)
		}
		// Whoever else looked by now has found nothing either.
		return scenarios.Hold{}, t.WriteFile(lockPath, []byte("locked"), 0o600)
	},
	Release: unlink,
}

// unlink releases by name, whosever the file is.
func unlink(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lockPath) }
