package scenarios

import (
	"cmp"
	"fmt"
	"slices"

	"lockpick/model"
)

// The properties of this package, in the order of reports. To add one, add its variable
// and its place in the list; everything else reads the value. A test finds a variable
// that is not in the list.

// Properties lists the properties of this package in the order of reports.
func Properties() []*Property {
	return []*Property{
		MutualExclusion, RWExclusion, LostUpdate, LostIncrement, Duplicate, CursorConsistency,
		ForeignRelease, TornRead, OwnerInfo, SpuriousFailure, Fencing, Assertion,
		Deadlock, Wedge, LeftBehind, Serializable, Atomic, Durable, Starvation,
	}
}

// MutualExclusion: two parties are never inside the critical section together.
var MutualExclusion = &Property{
	ID:        "mutual-exclusion",
	Shows:     InTwoHolders,
	Meaning:   "Two parties are never inside the critical section together.",
	Spec:      model.Mutex(),
	Symmetric: true,
	Tell:      together,
	Evidence:  Evidence{Of: acquisition, Lacks: twoHolders, ByLock: true},
}

// RWExclusion: while somebody writes nobody else is inside the critical section; readers
// may be many.
var RWExclusion = &Property{
	ID:        "rw-exclusion",
	Shows:     InTwoHolders,
	Meaning:   "Whoever writes is alone inside the critical section; readers may be many.",
	Spec:      model.RWLock(),
	Symmetric: true,
	Tell:      together,
	Evidence:  Evidence{Of: acquisition, Lacks: aWriterAndAnother, ByLock: true},
}

// LostUpdate: what an operation added is still there afterwards.
var LostUpdate = &Property{
	ID:        "lost-update",
	Meaning:   "What an operation added is still there afterwards.",
	Spec:      model.Set(),
	Symmetric: true,
	Evidence:  Evidence{Of: keyed, Lacks: askedOf("nobody ever asked for what had been added")},
}

// LostIncrement: every increment of a counter counts, and answers with a number of its own.
var LostIncrement = &Property{
	ID:        "lost-increment",
	Meaning:   "Every increment counts, and no two get one number.",
	Spec:      model.Counter(),
	Symmetric: true,
	Evidence:  Evidence{Of: counted, Lacks: twoCounts},
}

// Duplicate: no entry is appended twice.
var Duplicate = &Property{
	ID:        "duplicate",
	Meaning:   "No entry is appended twice.",
	Spec:      model.Log(),
	Decides:   isA[model.Append],
	Symmetric: true,
}

// CursorConsistency: every entry of a log is appended once, and its cursor moves only
// forward, over entries that have been appended.
var CursorConsistency = &Property{
	ID:        "cursor-consistency",
	Meaning:   "No entry is appended twice, and the cursor never goes back or passes an entry that is not in the log.",
	Spec:      model.CursorLog(),
	Decides:   isAny(isA[model.Advance], isA[model.ReadCursor]),
	Symmetric: true,
}

// ForeignRelease: no release or cleanup removes or overwrites somebody else's lock: while
// a task holds, the object at the lock's name is the one it acquired.
var ForeignRelease = &Property{
	ID:        "foreign-release",
	Shows:     InAHolder,
	Meaning:   "No release or cleanup removes or overwrites somebody else's lock.",
	OfHolders: true,
	PerLock:   true,
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
	Symmetric: true,
	Evidence:  Evidence{Of: keyed, Lacks: askedOf("no read ever saw what somebody wrote")},
}

// OwnerInfo: the recorded holder is right while the lock is held.
var OwnerInfo = &Property{
	ID:        "owner-info",
	Meaning:   "The recorded holder is right while the lock is held.",
	Spec:      model.OwnerRecord(),
	Symmetric: true,
	Evidence:  Evidence{Of: owned, Lacks: askedWhileHeld, ByLock: true},
}

// SpuriousFailure: nobody is told "locked" while nobody holds.
var SpuriousFailure = &Property{
	ID:        "spurious-failure",
	Meaning:   `Nobody is told "locked" while nobody holds.`,
	Spec:      model.StrictMutex(),
	Symmetric: true,
	Evidence:  Evidence{Of: acquisition, Lacks: aRefusal, ByLock: true},
}

// Fencing: every grant of a lease comes with a token above all before it, and a resource
// accepts no token below one that it has seen.
var Fencing = &Property{
	ID:        "fencing",
	Meaning:   "Tokens grow with every grant, and a resource refuses the tokens of overtaken holders only.",
	Spec:      model.Lease(),
	Symmetric: true,
	Evidence:  Evidence{Of: leased, Lacks: aGrantAndMore, ByLock: true},
}

// Assertion: what the tasks assert ([Task.Assert]) is so.
var Assertion = &Property{
	ID:         "assertion",
	Shows:      InAStep,
	Meaning:    "What the protocol asserts is so.",
	Assertions: true,
	Symmetric:  true,
	Tell:       func(v Violation) string { return fmt.Sprintf("the assertion %q fails", v.Said) },
}

// Deadlock: there is no reachable state where somebody is unfinished and nobody can ever
// move again.
var Deadlock = &Property{
	ID:        "deadlock",
	Meaning:   "Somebody can always move, or everybody has finished.",
	Question:  Stuck,
	Symmetric: true,
	Tell: func(v Violation) string {
		return cmp.Or(v.Said, "nobody can move any more")
	},
}

// Wedge: there is no reachable state where every process has finished or died, or goes on for
// ever whatever comes, and a fresh process, running alone with time passing, never acquires.
var Wedge = &Property{
	ID:        "wedge",
	Meaning:   "When everybody has finished or died, or goes on for ever in vain, a fresh process can still acquire.",
	Question:  LockedOut,
	Symmetric: true,
	Tell: func(v Violation) string {
		return cmp.Or(v.Said, "every process has ended or died, and nobody can ever acquire again")
	},
}

// LeftBehind: when all have ended well, no lock, claim or temporary file of theirs is still there.
var LeftBehind = &Property{
	ID:        "left-behind",
	Meaning:   "When everybody has ended and nobody was killed, no file is there that was not there before, but for what is to stay.",
	Question:  Leaves,
	Symmetric: true,
	Tell:      func(v Violation) string { return cmp.Or(v.Said, "everybody has ended, and something is left behind") },
	Evidence:  Evidence{Of: acquisition, Lacks: anEndInOrder},
}

// Serializable: when all have ended, the files are as they are when the processes run one after the other,
// each from its start to its end, in some order. The specification is the programs themselves. A process that
// exits with another status than 0 ([fsfake.Proc.ExitWith]) says that it refuses: then the files may be as if it
// had not run. Where all refuse in every order there is nothing to judge. Where processes may be killed, the clock may
// jump, or the power be lost, that may happen in serial runs as well, anywhere and as often; and a process that was killed
// is compared with one that was killed. It is not asked where calls may fail or signals come.
var Serializable = &Property{
	ID:       "serializable",
	Meaning:  "What the processes leave behind is what they leave behind one after the other, in some order.",
	Question: Unserial,
}

// Atomic: whatever happens, each file that was there at the start, and that the processes change, is in the end as it
// was, or as serial runs of some of them leave it. It is asked where processes may be killed, the power be lost, or
// calls fail ([Scenario.Data] says of which files), and judged in runs that come to an end. A new file may be
// unfinished, unless an old one is gone for it. Where calls fail, a process that ends with status 0 has done what it
// does: one that gives up says so by [fsfake.Proc.ExitWith].
var Atomic = &Property{
	ID: "atomic",
	Meaning: "When all have ended, been killed or lost the power, each file that they change is as before or as serial " +
		"runs leave it.",
	Question: Halves,
}

// Durable: what a process did that had ended with status 0 is there after a loss of power. It is asked of one process.
var Durable = &Property{
	ID:       "durable",
	Meaning:  "What a process that has ended with status 0 did to its files is still there when the power was lost.",
	Question: Forgets,
}

// Starvation: there is no weakly fair cycle in which somebody keeps trying and never
// acquires.
var Starvation = &Property{
	ID:       "starvation",
	Meaning:  "Whoever keeps trying acquires in the end.",
	Question: Starves,
	Decides:  isAny(isA[model.Acquire], isA[model.RAcquire], isA[model.WAcquire]),
	Tell:     func(v Violation) string { return fmt.Sprintf("the last %d steps can repeat for ever", v.Cycle) },
	Evidence: Evidence{Of: acquisition, Lacks: somebodyAcquired, ByLock: true},
}

// together says who holds at once.
func together(v Violation) string {
	if !v.Clash {
		return ""
	}
	return HoldTextOf(v.Lock, v.Holders)
}

// isAny reports whether an operation is of one of several kinds.
func isAny(kinds ...func(input, output any) bool) func(input, output any) bool {
	return func(input, output any) bool {
		return slices.ContainsFunc(kinds, func(is func(input, output any) bool) bool { return is(input, output) })
	}
}

// isA reports whether an input is of one kind, whatever it answered.
func isA[I any](input, _ any) bool {
	_, ok := input.(I)
	return ok
}
