package site

import (
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
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

func newIndex(systems []*system, props []*scenarios.Property, o report.Options) *index {
	x := &index{Heading: heading, Flags: o.Flags}
	var style strings.Builder
	for _, p := range props {
		first, second := report.Heading(p)
		x.Properties = append(x.Properties, propertyHead{p.ID, first, second, p.Meaning})
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
	x.head = newHead(heading+" · lockpick", "", style.String(), asset("search.js"))
	x.Made = o.Made
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
