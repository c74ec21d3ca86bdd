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
