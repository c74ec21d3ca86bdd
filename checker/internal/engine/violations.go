package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"lockpick/scenarios"
)

// Violated is a set of distinct violations: histories or machines by number.
type Violated map[uint32]struct{}

// Add adds other violations.
func (v Violated) Add(w Violated) {
	for id := range w { // order does not matter: it is a union
		v[id] = struct{}{}
	}
}

// Violation names what is wrong in a state that breaks the property: its history, or else
// its machine.
func (x *Space) Violation(row []uint32) uint32 {
	if x.Histories != nil {
		return row[WordHistory]
	}
	return row[wordMachine]
}

// KindOf grades a state that breaks the property.
func (x *Space) KindOf(row []uint32) (scenarios.Kind, error) {
	if x.Property.Kind == nil {
		return scenarios.NoKind, nil
	}
	id := row[wordMachine]
	x.mu.Lock()
	defer x.mu.Unlock()
	k, known := x.kinds[id]
	if !known {
		m, err := x.machines.get(id)
		if err != nil {
			return scenarios.NoKind, err
		}
		k = x.Property.Kind(scenarios.NewView(m))
		x.kinds[id] = k
	}
	return k, nil
}

// Fingerprints names violations in a way that means the same on every machine.
func (x *Space) Fingerprints(v Violated) []string {
	out := make([]string, 0, len(v))
	for id := range v { // order does not matter: the result is sorted
		switch {
		case x.Histories == nil:
			out = append(out, Hash(x.machines.key(id)))
		case x.Histories.MonitorsOnly:
			out = append(out, "watched") // a monitor forgets how it was violated
		default:
			out = append(out, Hash(x.Histories.Describe(id)))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Hash names bytes by a few, alike on every machine.
func Hash(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:12])
}
