package scenarios

import (
	"fmt"

	"lockpick/model"
)

// The properties of this package, in the order of reports. To add one, add its variable
// and its place in the list; everything else reads the value. A test finds a variable
// that is not in the list.

// Properties lists the properties of this package in the order of reports.
func Properties() []*Property {
	return []*Property{
		MutualExclusion, LostUpdate, Duplicate, ForeignRelease, TornRead,
		OwnerInfo, SpuriousFailure, Deadlock, Wedge, Starvation,
	}
}

// MutualExclusion: two parties are never inside the critical section together.
var MutualExclusion = &Property{
	ID:        "mutual-exclusion",
	Meaning:   "Two parties are never inside the critical section together.",
	Spec:      model.Mutex(),
	Decides:   isA[model.Acquire],
	Symmetric: true,
	Tell: func(v Violation) string {
		if len(v.Holders) < 2 {
			return ""
		}
		return HoldText(v.Holders)
	},
}

// LostUpdate: what an operation added is still there afterwards.
var LostUpdate = &Property{
	ID:        "lost-update",
	Meaning:   "What an operation added is still there afterwards.",
	Spec:      model.Set(),
	Decides:   isA[model.Contains],
	Symmetric: true,
}

// Duplicate: no entry is appended twice.
var Duplicate = &Property{
	ID:        "duplicate",
	Meaning:   "No entry is appended twice.",
	Spec:      model.Log(),
	Decides:   isA[model.Append],
	Symmetric: true,
}

// ForeignRelease: no release or cleanup removes or overwrites somebody else's lock: while
// a task holds, the object at the lock's name is the one it acquired.
var ForeignRelease = &Property{
	ID:        "foreign-release",
	Meaning:   "No release or cleanup removes or overwrites somebody else's lock.",
	OfHolders: true,
	Symmetric: true,
	Invariant: func(v View) string {
		for h := range v.Holders() {
			if h.Path != "" && !h.InPlace {
				return fmt.Sprintf("%s holds, but what stands at %s is not the file it acquired", h, h.Path)
			}
		}
		return ""
	},
}

// TornRead: a read returns what one write wrote.
var TornRead = &Property{
	ID:        "torn-read",
	Meaning:   "A read returns what one write wrote.",
	Spec:      model.Register(),
	Decides:   isA[model.Read],
	Symmetric: true,
}

// OwnerInfo: the recorded holder is right while the lock is held.
var OwnerInfo = &Property{
	ID:        "owner-info",
	Meaning:   "The recorded holder is right while the lock is held.",
	Spec:      model.OwnerRecord(),
	Decides:   isA[model.WhoHolds],
	Symmetric: true,
}

// SpuriousFailure: nobody is told "locked" while nobody holds.
var SpuriousFailure = &Property{
	ID:        "spurious-failure",
	Meaning:   `Nobody is told "locked" while nobody holds.`,
	Spec:      model.StrictMutex(),
	Decides:   isA[model.Acquire],
	Symmetric: true,
}

// Deadlock: there is no reachable state where somebody is unfinished and nobody can ever
// move again.
var Deadlock = &Property{
	ID:        "deadlock",
	Meaning:   "Somebody can always move, or everybody has finished.",
	Question:  Stuck,
	Symmetric: true,
	Tell:      func(Violation) string { return "nobody can move any more" },
}

// Wedge: there is no reachable state where every process has finished or died, and a
// fresh process, running alone with time passing, never acquires.
var Wedge = &Property{
	ID:        "wedge",
	Meaning:   "When everybody has finished or died, a fresh process can still acquire.",
	Question:  LockedOut,
	Symmetric: true,
	Tell: func(Violation) string {
		return "every process has ended or died, and nobody can ever acquire again"
	},
}

// Starvation: there is no weakly fair cycle in which somebody keeps trying and never
// acquires.
var Starvation = &Property{
	ID:       "starvation",
	Meaning:  "Whoever keeps trying acquires in the end.",
	Question: Starves,
	Decides: func(input, _ any) bool {
		switch input.(type) {
		case model.Acquire, model.RAcquire, model.WAcquire:
			return true
		}
		return false
	},
	Tell: func(v Violation) string { return fmt.Sprintf("the last %d steps can repeat for ever", v.Cycle) },
}

// isA reports whether an input is of one kind, whatever it answered.
func isA[I any](input, _ any) bool {
	_, ok := input.(I)
	return ok
}
