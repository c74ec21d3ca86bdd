package model

import "fmt"

// The operations that several specifications share: taking a lock, giving it
// back, and dying. They are recorded once and judged by each.
//
// Lock, here and in other operations of a lock, says which one an operation is of: its name,
// as package scenarios makes it of a path. Empty means the only one that there is.

// Acquire asks for the lock. Owner is the name of the process, such as "A":
// tasks of one process may share, processes never do. It returns [Acquired].
type Acquire struct{ Owner, Lock string }

// String renders the operation: "acquire(A)", "acquire(A, /x.lock)".
func (a Acquire) String() string { return called("acquire", a.Owner, a.Lock) }

// LockName is the lock's name.
func (a Acquire) LockName() string { return a.Lock }

// Acquired is the answer to [Acquire], and to [RAcquire] and [WAcquire].
type Acquired struct {
	OK     bool // the lock was obtained
	Shared bool // by joining a hold of the same owner
}

// String renders the answer: "ok", "shared" or "locked".
func (a Acquired) String() string {
	switch {
	case a.OK && a.Shared:
		return "shared"
	case a.OK:
		return "ok"
	}
	return "locked"
}

// Release gives the lock back, once. It returns [Released].
type Release struct{ Owner, Lock string }

// String renders the operation: "release(A)", "release(A, /x.lock)".
func (r Release) String() string { return called("release", r.Owner, r.Lock) }

// LockName is the lock's name.
func (r Release) LockName() string { return r.Lock }

// Released is the answer to [Release], and to [RRelease] and [WRelease].
type Released struct{}

// String renders the answer.
func (Released) String() string { return "released" }

// Crash is the death of a process: it is no longer inside the critical section of any lock.
// It returns [Crashed]. Crash matches the whole name and forgets it: a process
// that is started again may use it.
type Crash struct{ Owner string }

// String renders the operation: "crash(A)".
func (c Crash) String() string { return fmt.Sprintf("crash(%s)", c.Owner) }

// Crashed is the answer to [Crash].
type Crashed struct{}

// String renders the answer.
func (Crashed) String() string { return "dead" }
