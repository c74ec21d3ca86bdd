// Package asks does what no code may: it asks which property it has before it.
package asks

import "lockpick/scenarios"

// Asks compares.
func Asks(p *scenarios.Property, table map[*scenarios.Property]int) int {
	switch p {
	case scenarios.Wedge:
		return 1
	}
	if p == scenarios.Deadlock ||
		p.ID == scenarios.Starvation.ID {
		return 2
	} else if p.ID != "torn-read" {
		return 3
	}
	return table[scenarios.Duplicate]
}

// Fine compares two ids, and asks for a field.
func Fine(p, q *scenarios.Property) bool { return p.ID == q.ID && p.NeedsProbe() && p != nil }
