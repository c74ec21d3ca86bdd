package model

import "fmt"

// WhoHolds asks for the recorded holder of the lock. It returns [Holder].
type WhoHolds struct{ Lock string }

// String renders the operation: "who holds?", "who holds /x.lock?".
func (w WhoHolds) String() string { return asked("who holds", w.Lock) }

// LockName is the lock's name.
func (w WhoHolds) LockName() string { return w.Lock }

// Holder is the answer to [WhoHolds]. The empty Owner says that none is recorded.
type Holder struct{ Owner string }

// String renders the answer: the quoted name.
func (h Holder) String() string { return fmt.Sprintf("%q", h.Owner) }

// OwnerRecord judges the record of who holds a lock: while somebody holds, it
// names a holder. While nobody holds, the record may say anything, a name left
// over included. That two owners hold together is [Mutex]'s concern and legal
// here; either is then a right answer.
func OwnerRecord() Spec {
	return LockByLock(Define("owner-record", Holders{},
		On(Holders.Acquire), On(Holders.Release), On(Holders.Crash), On(Holders.WhoHolds)))
}

// WhoHolds answers with any one of the holders, with anything if there is none.
func (h Holders) WhoHolds(WhoHolds) []Next[Holders, Holder] {
	if h.Names == "" {
		return []Next[Holders, Holder]{{State: h, AnyOutput: true}}
	}
	var answers []Next[Holders, Holder]
	names := h.Names.Names()
	for i, name := range names {
		if i > 0 && name == names[i-1] {
			continue
		}
		answers = append(answers, Next[Holders, Holder]{State: h, Output: Holder{name}})
	}
	return answers
}
