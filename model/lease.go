package model

import "fmt"

// Grant asks for the lease. It returns [Granted].
type Grant struct{ Owner, Lock string }

// String renders the operation: "grant(A)", "grant(A, /lease)".
func (g Grant) String() string { return called("grant", g.Owner, g.Lock) }

// LockName is the name of the lease.
func (g Grant) LockName() string { return g.Lock }

// Granted is the answer to [Grant]: the fencing token of this lease, unless it was refused.
type Granted struct {
	Token   int
	Refused bool
}

// String renders the answer: "token 3", "refused".
func (g Granted) String() string {
	if g.Refused {
		return "refused"
	}
	return fmt.Sprintf("token %d", g.Token)
}

// Use presents a token to the resource that the lease protects. It returns [Used].
type Use struct {
	Token int
	Lock  string
}

// String renders the operation: "use(3)", "use(3, /lease)".
func (u Use) String() string { return called("use", fmt.Sprint(u.Token), u.Lock) }

// LockName is the name of the lease.
func (u Use) LockName() string { return u.Lock }

// Used is the answer to [Use].
type Used struct{ OK bool }

// String renders the answer: "accepted" or "refused".
func (u Used) String() string {
	if u.OK {
		return "accepted"
	}
	return "refused"
}

// LeaseState is the last token granted and the highest that was used.
type LeaseState struct{ Granted, Seen int }

// String renders the state: "granted 3, seen 2".
func (s LeaseState) String() string { return fmt.Sprintf("granted %d, seen %d", s.Granted, s.Seen) }

// Lease is a lease with a fencing token. It may be granted while an earlier
// holder still believes in its own, which is what leases are like; what keeps
// them apart is the token. Tokens count the grants, 1, 2, 3, …: a grant that was
// killed may account for a gap, nothing else does. To be refused a grant is always
// legal. The resource accepts a token exactly if it was granted and no higher one has
// been used.
func Lease() Spec {
	return LockByLock(Define("lease", LeaseState{}, On(LeaseState.Grant), On(LeaseState.Use)))
}

// Grant answers with the next token, or refuses.
func (s LeaseState) Grant(Grant) []Next[LeaseState, Granted] {
	refused := Next[LeaseState, Granted]{State: s, Output: Granted{Refused: true}}
	s.Granted++
	return []Next[LeaseState, Granted]{{State: s, Output: Granted{Token: s.Granted}}, refused}
}

// Use is accepted if the token was granted and none above it was used.
func (s LeaseState) Use(in Use) []Next[LeaseState, Used] {
	if in.Token < 1 || in.Token < s.Seen || in.Token > s.Granted {
		return Only(s, Used{OK: false})
	}
	s.Seen = in.Token
	return Only(s, Used{OK: true})
}

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

// Holders says who holds a lock, without insisting that it be one: a name is in
// the bag once per hold. It is the state of the specifications that judge what is
// said about a lock while [Mutex] judges the lock.
type Holders struct{ Names Bag }

// String renders the state: "free", "A", "A, B".
func (h Holders) String() string {
	if h.Names == "" {
		return "free"
	}
	return h.Names.String()
}

// obtained lists the two ways to obtain the lock, alone or shared. Whether the
// owner was entitled to it is not asked.
func (h Holders) obtained(owner string) []Next[Holders, Acquired] {
	held := Holders{h.Names.Add(owner)}
	return []Next[Holders, Acquired]{
		{State: held, Output: Acquired{OK: true}},
		{State: held, Output: Acquired{OK: true, Shared: true}},
	}
}

// Acquire obtains the lock or is refused, whoever holds it.
func (h Holders) Acquire(in Acquire) []Next[Holders, Acquired] {
	return append(h.obtained(in.Owner), Next[Holders, Acquired]{State: h})
}

// AcquireStrict is Acquire, refused only while somebody holds.
func (h Holders) AcquireStrict(in Acquire) []Next[Holders, Acquired] {
	if h.Names == "" {
		return h.obtained(in.Owner)
	}
	return h.Acquire(in)
}

// Release ends one hold of the owner, if it has one.
func (h Holders) Release(in Release) []Next[Holders, Released] {
	return Only(Holders{h.Names.Remove(in.Owner)}, Released{})
}

// Crash ends every hold of the owner.
func (h Holders) Crash(in Crash) []Next[Holders, Crashed] {
	return Only(Holders{h.Names.RemoveAll(in.Owner)}, Crashed{})
}
