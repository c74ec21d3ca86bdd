package scenarios

import (
	"errors"

	"lockpick/fsfake"
)

// ErrLocked is what a protocol returns when it gives up because somebody else has the
// lock. Wrap it to say more. Other errors count as "locked", too.
var ErrLocked = errors.New("scenarios: locked by somebody else")

// A Hold is what an acquisition leaves to its release.
type Hold struct {
	// Path is the name under which the lock was taken, where one lock has several; empty for the
	// path that Acquire is given.
	Path string
	// File is the open lock file, when the protocol keeps it open.
	File *fsfake.File
	// Shared: the process held the lock already and this acquisition joined it.
	Shared bool
	// Data is whatever else the protocol's release wants to know.
	Data any
}

// A Protocol is a lock protocol, as one task runs it. Both functions make the calls of
// the reported code in its order, and keep nothing between calls except in the Hold
// and in fsfake.Cell.
type Protocol struct {
	// Path is the lock's name.
	Path    string
	Acquire func(t *Task) (Hold, error)
	Release func(t *Task, h Hold) error
}

// Once is the plain workload of a lock: one attempt to acquire; when it succeeds one
// visible step inside the critical section, and the release.
func Once(l Protocol) Program {
	return func(t *Task) { _ = Locked(t, l, func() { t.Work() }) }
}

// Locked runs body between an acquisition and a release of l, each recorded. It
// returns the acquisition's error, and then body has not run, or else the release's.
func Locked(t *Task, l Protocol, body func()) error {
	h, err := t.Acquire(l.Path, func() (Hold, error) { return l.Acquire(t) })
	if err != nil {
		return err
	}
	body()
	return t.ReleaseOf(l.Path, func() error { return l.Release(t, h) })
}

// Attempt is the probe of a lock protocol: one acquisition by a fresh process.
func Attempt(l Protocol) Probe {
	return func(t *Task) error {
		_, err := l.Acquire(t)
		return err
	}
}
