package model

import "fmt"

// MutexState says who holds a mutex, and how often: the zero value is free.
type MutexState struct {
	Owner string // meaningful while Count is positive
	Count int    // holds of the owner, more than one if its tasks share
}

// String renders the state: "free", "A", "A x2".
func (s MutexState) String() string {
	switch s.Count {
	case 0:
		return "free"
	case 1:
		return s.Owner
	}
	return fmt.Sprintf("%s x%d", s.Owner, s.Count)
}

// Mutex is mutual exclusion with an owner: a lock is obtained only when it is
// free, or joined by the owner that holds it. To be refused is always legal,
// that is [StrictMutex]'s concern; so is a release by somebody who does not
// hold, which has no effect here.
func Mutex() Spec {
	return LockByLock(Define("mutex", MutexState{},
		On(MutexState.Acquire), On(MutexState.Release), On(MutexState.Crash)))
}

// Acquire obtains a free lock, joins the owner's own, or is refused.
func (s MutexState) Acquire(in Acquire) []Next[MutexState, Acquired] {
	refused := Next[MutexState, Acquired]{State: s}
	switch {
	case s.Count == 0:
		held := MutexState{Owner: in.Owner, Count: 1}
		return []Next[MutexState, Acquired]{{State: held, Output: Acquired{OK: true}}, refused}
	case s.Owner == in.Owner:
		joined := MutexState{Owner: s.Owner, Count: s.Count + 1}
		return []Next[MutexState, Acquired]{{State: joined, Output: Acquired{OK: true, Shared: true}}, refused}
	}
	return []Next[MutexState, Acquired]{refused}
}

// Release ends one hold of the owner.
func (s MutexState) Release(in Release) []Next[MutexState, Released] {
	switch {
	case s.Count == 0 || s.Owner != in.Owner:
		return Only(s, Released{})
	case s.Count == 1:
		return Only(MutexState{}, Released{})
	}
	return Only(MutexState{Owner: s.Owner, Count: s.Count - 1}, Released{})
}

// Crash ends every hold of the owner.
func (s MutexState) Crash(in Crash) []Next[MutexState, Crashed] {
	if s.Count > 0 && s.Owner == in.Owner {
		return Only(MutexState{}, Crashed{})
	}
	return Only(s, Crashed{})
}

// IsHeld asks whether anybody holds the lock. It returns [Held].
type IsHeld struct{ Lock string }

// String renders the operation: "held?", "held /x.lock?".
func (h IsHeld) String() string { return asked("held", h.Lock) }

// LockName is the lock's name.
func (h IsHeld) LockName() string { return h.Lock }

// Held is the answer to [IsHeld].
type Held struct{ Yes bool }

// String renders the answer: "yes" or "no".
func (h Held) String() string {
	if h.Yes {
		return "yes"
	}
	return "no"
}

// StrictMutex is strict about what is said of a lock: an [Acquire] is refused
// only while somebody holds, and [IsHeld] tells the truth. That two owners hold
// together is [Mutex]'s concern and legal here, so that a history is wrong by
// this specification only if somebody was told "locked" while nobody held, or
// was misinformed by IsHeld.
//
// An acquirer that is refused by another acquirer, which is then refused too,
// has been refused for nothing: neither of them ever held.
func StrictMutex() Spec {
	return LockByLock(Define("strict-mutex", Holders{},
		On(Holders.AcquireStrict), On(Holders.Release), On(Holders.Crash), On(Holders.IsHeld)))
}

// IsHeld answers whether anybody holds.
func (h Holders) IsHeld(IsHeld) []Next[Holders, Held] {
	return Only(h, Held{Yes: h.Names != ""})
}
