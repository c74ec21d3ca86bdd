package report

import (
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// Properties lists the properties that results are about, each once, in the order of
// reports.
func Properties(results []checker.Result) []*scenarios.Property {
	var all []*scenarios.Property
	for i := range results {
		all = append(all, results[i].Property)
	}
	return scenarios.InOrder(all)
}

// Heading breaks the id of a property over the two lines of a column's head, at the
// hyphen that leaves the narrower column. An id of one word stands below.
func Heading(p *scenarios.Property) (top, below string) {
	below = p.ID
	for i, c := range p.ID {
		if c == '-' && (top == "" || max(i, len(p.ID)-i-1) < max(len(top), len(below))) {
			top, below = p.ID[:i], p.ID[i+1:]
		}
	}
	return top, below
}

// columnWidth is what a column has at least: "✗ not holds" and the ids that come along.
const columnWidth = 11

// widthOf is the width of a property's column.
func widthOf(p *scenarios.Property) int {
	top, below := Heading(p)
	return max(columnWidth, runes(top), runes(below))
}

// heading writes the names of the properties on two lines.
func (m *matrix) heading(system string, name int, props []*scenarios.Property) {
	top, below := pad("", name), m.o.paint(bold, pad(system, name))
	for _, p := range props {
		first, second := Heading(p)
		top += "  " + pad(first, widthOf(p))
		below += "  " + m.o.paint(dim, pad(second, widthOf(p)))
	}
	if strings.TrimSpace(top) != "" {
		m.line(m.o.paint(dim, strings.TrimRight(top, " ")))
	}
	m.line(below)
}
