package ctx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"

	"lockpick/scenarios"
)

// pidCleanup is option A of the report with its mitigation: the lock holds the pid of
// its owner, and the lock of a dead owner is removed. emptyIsStale says what a file
// without a pid means: a dead owner, or one that has not written it yet.
//
// Two processes that find no stale lock are safe when it means the latter. Three are
// not: the first lets go and exits between the second's reading its pid and asking for
// it, the second judges it dead, and unlinks what the third has created meanwhile.
// https://github.com/ActiveMemory/ctx/issues/93
func pidCleanup(emptyIsStale bool) scenarios.Protocol {
	acquire := func(t *scenarios.Task) (scenarios.Hold, error) {
		for { // at once, as the report has it: it is no poll
			f, err := t.OpenFile(lockPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if err == nil {
				// The pid is a step of its own: until then the file is empty.
				_, err = f.WriteString(strconv.Itoa(t.Getpid()))
				return scenarios.Hold{}, errors.Join(err, f.Close())
			}
			if !errors.Is(err, fs.ErrExist) {
				return scenarios.Hold{}, err
			}
			stale, err := ownerIsDead(t, emptyIsStale)
			if errors.Is(err, fs.ErrNotExist) {
				continue // released meanwhile
			}
			if err != nil {
				return scenarios.Hold{}, err
			}
			if !stale {
				return scenarios.Hold{}, fmt.Errorf("%s: %w", lockPath, scenarios.ErrLocked)
			}
			_ = t.Unlink(lockPath) // by name: whatever stands there by now
		}
	}
	return scenarios.Protocol{Path: lockPath, Acquire: acquire, Release: unlink}
}

// ownerIsDead reads the pid in the lock and asks for its process.
func ownerIsDead(t *scenarios.Task, emptyIsStale bool) (bool, error) {
	data, err := readAll(t, lockPath)
	if err != nil {
		return false, err
	}
	pid, err := strconv.Atoi(data)
	if err != nil {
		return emptyIsStale, nil
	}
	return errors.Is(t.Kill(pid), syscall.ESRCH), nil
}
