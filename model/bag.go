package model

import (
	"fmt"
	"slices"
	"strings"
)

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
