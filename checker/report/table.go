package report

import (
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// TableOf is the table by which a property shows what is wrong at the end of a counterexample,
// as rows of cells; the first is the heading. It is nil where the property has none.
func TableOf(cx *trace.Counterexample) [][]string {
	if cx.Property.Table == nil || len(cx.Trace) == 0 {
		return nil
	}
	rows := cx.Property.Table(scenarios.NewView(cx.Trace[len(cx.Trace)-1].After))
	for i := range rows {
		rows[i] = slices.Clone(rows[i])
		for k := range rows[i] {
			rows[i][k] = Visible(rows[i][k])
		}
	}
	return rows
}

// widestCell is how many columns a cell of a table takes at most.
const widestCell = 40

// table draws the table of a counterexample. Where its columns do not fit beside each other, the first is compared
// with each of the others in a table of its own, which has only the rows that differ. The shortest comes first.
func (t *timeline) table(cx *trace.Counterexample) {
	rows := TableOf(cx)
	if len(rows) == 0 {
		return
	}
	if all := widthsOf(rows, widestCell); len(all) <= 3 || lineWidth(all) <= t.o.width() {
		t.rows(rows, all)
		return
	}
	var pairs [][][]string
	for k := 2; k < len(rows[0]); k++ {
		pair := [][]string{{rows[0][0], rows[0][1], rows[0][k]}}
		for _, row := range rows[1:] {
			if row[1] != row[k] {
				pair = append(pair, []string{row[0], row[1], row[k]})
			}
		}
		pairs = append(pairs, pair)
	}
	slices.SortStableFunc(pairs, func(a, b [][]string) int { return len(a) - len(b) })
	for _, pair := range pairs {
		t.rows(pair, widthsOf(pair, max(16, (t.o.width()-8)/3)))
	}
}

// widthsOf is how wide the columns of a table are; none is wider than widest.
func widthsOf(rows [][]string, widest int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for k := range row {
			widths[k] = max(widths[k], min(columns(row[k]), widest))
		}
	}
	return widths
}

// lineWidth is how wide a line of a table is.
func lineWidth(widths []int) int {
	n := 2 - 3
	for _, w := range widths {
		n += w + 3
	}
	return n
}

// rows draws a table.
func (t *timeline) rows(rows [][]string, widths []int) {
	for i, row := range rows {
		var cells []string
		for k, cell := range row {
			cells = append(cells, pad(Clip(cell, widths[k]), widths[k]))
		}
		text := strings.TrimRight("  "+strings.Join(cells, "   "), " ")
		if i == 0 {
			text = t.o.paint(dim, text)
		}
		t.line(text)
	}
	t.line("")
}

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
