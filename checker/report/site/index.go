package site

import (
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// An index is the first page.
type index struct {
	head
	Heading    string
	Flags      string
	Properties []propertyHead
	Systems    []indexSystem
	Totals     totals
}

// A propertyHead is a column's head, broken where the name has a hyphen.
type propertyHead struct{ ID, First, Second, Meaning string }

type indexSystem struct {
	*system
	Lines []indexLine
}

type indexLine struct {
	*row
	Cells []cell
}

type totals struct {
	Scenarios, Verdicts, Broken, Holds, Unknown, Differs int
	States, Transitions                                  int
}

func newIndex(systems []*system, o Options) *index {
	x := &index{Heading: o.title(), Flags: o.Flags}
	var style strings.Builder
	props := properties(systems)
	for _, p := range props {
		first, second, two := strings.Cut(string(p), "-")
		if !two {
			first, second = "", first
		}
		x.Properties = append(x.Properties, propertyHead{string(p), first, second, meaning(p)})
	}
	for _, s := range systems {
		is := indexSystem{system: s}
		for _, w := range s.Rows {
			line := indexLine{row: w}
			for _, p := range props {
				line.Cells = append(line.Cells, newCell(w, p))
			}
			is.Lines = append(is.Lines, line)
			x.Totals.add(w)
		}
		x.Systems = append(x.Systems, is)
		fmt.Fprintf(&style, "body:has(#sys-%d:checked) .matrix tbody:not(.sys-%d){display:none}\n", s.N, s.N)
	}
	x.head = newHead(o.title()+" · lockpick", "", style.String(), "")
	return x
}

func (t *totals) add(w *row) {
	t.Scenarios++
	for _, r := range w.Results {
		t.Verdicts++
		t.States += r.Stats.States
		t.Transitions += r.Stats.Transitions
		switch r.Verdict {
		case checker.Broken:
			t.Broken++
		case checker.Holds:
			t.Holds++
		default:
			t.Unknown++
		}
		if differs(r) {
			t.Differs++
		}
	}
}

// meaning says what a property asks.
func meaning(p scenarios.Property) string {
	switch p {
	case scenarios.MutualExclusion:
		return "Two parties are never inside the critical section together."
	case scenarios.LostUpdate:
		return "What an operation added is still there afterwards."
	case scenarios.Duplicate:
		return "No entry is appended twice."
	case scenarios.ForeignRelease:
		return "No release or cleanup removes or overwrites somebody else’s lock."
	case scenarios.TornRead:
		return "A read returns what one write wrote."
	case scenarios.OwnerInfo:
		return "The recorded holder is right while the lock is held."
	case scenarios.SpuriousFailure:
		return "Nobody is told “locked” while nobody holds."
	case scenarios.Deadlock:
		return "Nobody is ever stuck with nobody left to move."
	case scenarios.Wedge:
		return "Whatever has died or finished, a fresh process can still acquire in the end."
	case scenarios.Starvation:
		return "Nobody keeps trying for ever while others come and go."
	}
	return ""
}
