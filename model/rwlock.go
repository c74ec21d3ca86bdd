package model

// RAcquire asks to read. It returns [Acquired], never Shared.
type RAcquire struct{ Owner, Lock string }

// String renders the operation: "racquire(A)", "racquire(A, /x.lock)".
func (a RAcquire) String() string { return called("racquire", a.Owner, a.Lock) }

// LockName is the lock's name.
func (a RAcquire) LockName() string { return a.Lock }

// RRelease ends reading. It returns [Released].
type RRelease struct{ Owner, Lock string }

// String renders the operation: "rrelease(A)", "rrelease(A, /x.lock)".
func (r RRelease) String() string { return called("rrelease", r.Owner, r.Lock) }

// LockName is the lock's name.
func (r RRelease) LockName() string { return r.Lock }

// WAcquire asks to write. It returns [Acquired], never Shared.
type WAcquire struct{ Owner, Lock string }

// String renders the operation: "wacquire(A)", "wacquire(A, /x.lock)".
func (a WAcquire) String() string { return called("wacquire", a.Owner, a.Lock) }

// LockName is the lock's name.
func (a WAcquire) LockName() string { return a.Lock }

// WRelease ends writing. It returns [Released].
type WRelease struct{ Owner, Lock string }

// String renders the operation: "wrelease(A)", "wrelease(A, /x.lock)".
func (r WRelease) String() string { return called("wrelease", r.Owner, r.Lock) }

// LockName is the lock's name.
func (r WRelease) LockName() string { return r.Lock }

// RWLockState says who reads and who writes; at most one does, and then nobody
// reads.
type RWLockState struct {
	Readers Bag
	Writing bool
	Writer  string // meaningful while Writing
}

// String renders the state: "free", "read by A, B", "written by A".
func (s RWLockState) String() string {
	switch {
	case s.Writing:
		return "written by " + s.Writer
	case s.Readers != "":
		return "read by " + s.Readers.String()
	}
	return "free"
}

// RWLock is a lock for many readers or one writer. To be refused is always
// legal; a release by somebody who does not hold has no effect. Nobody turns a
// read hold into a write hold, or joins one's own: a writer is alone, its own
// process included.
func RWLock() Spec {
	return LockByLock(Define("rw-lock", RWLockState{},
		On(RWLockState.RAcquire), On(RWLockState.RRelease),
		On(RWLockState.WAcquire), On(RWLockState.WRelease), On(RWLockState.Crash)))
}

// RAcquire reads unless somebody writes, or is refused.
func (s RWLockState) RAcquire(in RAcquire) []Next[RWLockState, Acquired] {
	refused := Next[RWLockState, Acquired]{State: s}
	if s.Writing {
		return []Next[RWLockState, Acquired]{refused}
	}
	reading := RWLockState{Readers: s.Readers.Add(in.Owner)}
	return []Next[RWLockState, Acquired]{{State: reading, Output: Acquired{OK: true}}, refused}
}

// RRelease ends one read hold of the owner, if it has one.
func (s RWLockState) RRelease(in RRelease) []Next[RWLockState, Released] {
	s.Readers = s.Readers.Remove(in.Owner)
	return Only(s, Released{})
}

// WAcquire writes if nobody reads or writes, or is refused.
func (s RWLockState) WAcquire(in WAcquire) []Next[RWLockState, Acquired] {
	refused := Next[RWLockState, Acquired]{State: s}
	if s != (RWLockState{}) {
		return []Next[RWLockState, Acquired]{refused}
	}
	writing := RWLockState{Writing: true, Writer: in.Owner}
	return []Next[RWLockState, Acquired]{{State: writing, Output: Acquired{OK: true}}, refused}
}

// WRelease ends writing, if the owner writes.
func (s RWLockState) WRelease(in WRelease) []Next[RWLockState, Released] {
	if s.Writing && s.Writer == in.Owner {
		s = RWLockState{}
	}
	return Only(s, Released{})
}

// Crash ends every hold of the owner.
func (s RWLockState) Crash(in Crash) []Next[RWLockState, Crashed] {
	if s.Writing && s.Writer == in.Owner {
		s = RWLockState{}
	}
	s.Readers = s.Readers.RemoveAll(in.Owner)
	return Only(s, Crashed{})
}
