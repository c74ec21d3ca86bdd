package model

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
