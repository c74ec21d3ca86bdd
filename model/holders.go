package model

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
