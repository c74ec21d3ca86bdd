package model

import "fmt"

// Add puts a key into the set. It returns [Added].
type Add struct{ Key string }

// String renders the operation: "add(k)".
func (a Add) String() string { return fmt.Sprintf("add(%s)", a.Key) }

// Added is the answer to [Add].
type Added struct{}

// String renders the answer.
func (Added) String() string { return "added" }

// Contains asks whether a key is in the set. It returns [Found].
type Contains struct{ Key string }

// String renders the operation: "contains(k)".
func (c Contains) String() string { return fmt.Sprintf("contains(%s)", c.Key) }

// Found is the answer to [Contains].
type Found struct{ Yes bool }

// String renders the answer: "yes" or "no".
func (f Found) String() string {
	if f.Yes {
		return "yes"
	}
	return "no"
}

// SetState is the keys of a set, each once.
type SetState struct{ Keys Bag }

// String renders the state: "{a, b}".
func (s SetState) String() string { return "{" + s.Keys.String() + "}" }

// Set is a set that only grows: what was added is found from then on, and
// nothing else is. A read-modify-write cycle that overwrites another's addition
// loses it, and a later [Contains] tells.
func Set() Spec {
	return Define("set", SetState{}, On(SetState.Add), On(SetState.Contains))
}

// Add puts the key into the set; it may be there already.
func (s SetState) Add(in Add) []Next[SetState, Added] {
	if s.Keys.Has(in.Key) {
		return Only(s, Added{})
	}
	return Only(SetState{s.Keys.Add(in.Key)}, Added{})
}

// Contains answers whether the key is in the set.
func (s SetState) Contains(in Contains) []Next[SetState, Found] {
	return Only(s, Found{s.Keys.Has(in.Key)})
}
