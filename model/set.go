package model

import (
	"fmt"
	"slices"
	"strings"
)

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

// A Bag is a multiset of names as a comparable value: the names in order, each
// followed by the byte 0x1f. The zero Bag is empty.
type Bag string

const bagEnd = "\x1f"

// BagOf returns the bag of the given names.
func BagOf(names ...string) Bag {
	var b Bag
	for _, name := range names {
		b = b.Add(name)
	}
	return b
}

// Names lists the names in order, a name as often as it is in the bag.
func (b Bag) Names() []string {
	if b == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), bagEnd), bagEnd)
}

// Has reports whether name is in the bag.
func (b Bag) Has(name string) bool { return slices.Contains(b.Names(), name) }

// Add returns the bag with one more name.
func (b Bag) Add(name string) Bag {
	if err := nameable(name); err != nil {
		panic(err)
	}
	names := b.Names()
	at, _ := slices.BinarySearch(names, name)
	return join(slices.Insert(names, at, name))
}

// nameable says why a name cannot be in a bag.
func nameable(name string) error {
	if strings.Contains(name, bagEnd) {
		return fmt.Errorf("model: the name %q contains the byte 0x1f", name)
	}
	return nil
}

// Remove returns the bag with one name less, or the same bag if it has none.
func (b Bag) Remove(name string) Bag {
	names := b.Names()
	at, found := slices.BinarySearch(names, name)
	if !found {
		return b
	}
	return join(slices.Delete(names, at, at+1))
}

// RemoveAll returns the bag without the name, however often it was in it.
func (b Bag) RemoveAll(name string) Bag {
	return join(slices.DeleteFunc(b.Names(), func(n string) bool { return n == name }))
}

// String lists the names: "A, A, B".
func (b Bag) String() string { return strings.Join(b.Names(), ", ") }

func join(names []string) Bag {
	var s strings.Builder
	for _, name := range names {
		s.WriteString(name)
		s.WriteString(bagEnd)
	}
	return Bag(s.String())
}
