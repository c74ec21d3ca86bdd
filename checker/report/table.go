package report

import (
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/internal/numbers"
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

// table draws the table of a counterexample, as many of its columns as fit.
func (t *timeline) table(cx *trace.Counterexample) {
	rows := TableOf(cx)
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for k := range row {
			widths[k] = max(widths[k], min(columns(row[k]), widestCell))
		}
	}
	shown, at := 0, 2
	for ; shown < len(widths) && (shown < 2 || at+widths[shown] <= t.o.width()); shown++ {
		at += widths[shown] + 3
	}
	for i, row := range rows {
		var cells []string
		for k, cell := range row[:shown] {
			cells = append(cells, pad(Clip(cell, widths[k]), widths[k]))
		}
		text := strings.TrimRight("  "+strings.Join(cells, "   "), " ")
		if i == 0 {
			text = t.o.paint(dim, text)
		}
		t.line(text)
	}
	if left := len(widths) - shown; left > 0 {
		t.line("  " + t.o.paint(dim, numbers.Count(left, "column more does not fit", "columns more do not fit")))
	}
	t.line("")
}
