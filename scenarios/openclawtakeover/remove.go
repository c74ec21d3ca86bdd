package openclawtakeover

import (
	"errors"
	"io/fs"
	"os"

	"lockpick/scenarios"
)

// rmThenCreate takes a stale lock over by removing it and then creating its own. A lock
// without a text is alive.
func rmThenCreate() scenarios.Protocol {
	return exclusive(func(t *scenarios.Task, p payload) bool {
		return p.Pid != 0 && !alive(t, p.Pid)
	}, remove)
}

// emptyIsStale is the lock as it was: a lock without a text is stale too, and so is one
// that has just gone.
func emptyIsStale() scenarios.Protocol { return exclusive(deadOrEmpty, remove) }

// deadOrEmpty is b2: createdAt is not a time, or the owner is not alive.
func deadOrEmpty(t *scenarios.Task, p payload) bool { return p.Pid == 0 || !alive(t, p.Pid) }

// remove is b4: rm(lockPath, {force: true}), and the loop goes on at once.
func remove(t *scenarios.Task) (scenarios.Hold, bool) {
	_ = t.Unlink(lockPath)
	return scenarios.Hold{}, false
}

// exclusive is a lock made with open("wx"). A lock that stale finds so is taken over.
func exclusive(
	stale func(t *scenarios.Task, p payload) bool,
	takeOver func(t *scenarios.Task) (scenarios.Hold, bool),
) scenarios.Protocol {
	acquire := func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile(lockPath, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // a4
			if err == nil {
				_, err = f.Write(textOf(t.Getpid())) // a6
				return scenarios.Hold{File: f}, err
			}
			if !errors.Is(err, fs.ErrExist) {
				return scenarios.Hold{}, err
			}
			p := readPayload(t) // b1
			if stale(t, p) {    // b2
				if h, ok := takeOver(t); ok { // b4
					return h, nil
				}
				continue
			}
			t.Sleep(poll) // b5
		}
		panic("unreachable")
	}
	return scenarios.Protocol{Path: lockPath, Acquire: acquire, Release: closeAndRemove}
}
