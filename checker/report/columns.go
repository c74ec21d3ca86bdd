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

// columnWidth is what a column has at least, where there is room.
const columnWidth = 11

// widthOf is the least width of a property's column: that of its head and of its cells.
func widthOf(p *scenarios.Property, rows Group) int {
	top, below := Heading(p)
	n := max(columns(top), columns(below))
	for _, r := range rows {
		if x := r.Of(p); x != nil {
			text, _ := cell(x)
			n = max(n, columns(text))
		}
	}
	return n
}

// heading writes the names of the properties on two lines, where they have columns.
func (m *Tables) heading(rows Group, t table) {
	top, below := pad("", t.name), m.o.paint(bold, pad(Visible(rows[0][0].Scenario.System()), t.name))
	if t.width != nil {
		for k, p := range t.props {
			first, second := Heading(p)
			top += "  " + pad(first, t.width[k])
			below += "  " + m.o.paint(dim, pad(second, t.width[k]))
		}
	}
	if strings.TrimSpace(top) != "" {
		m.line(m.o.paint(dim, strings.TrimRight(top, " ")))
	}
	m.line(below)
}
