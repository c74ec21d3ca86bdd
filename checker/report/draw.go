package report

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
)

// A Drawing is a chart as text.
type Drawing struct {
	*Chart
	// Cycle is how many of the last rows repeat for ever; 0 for none.
	Cycle int
}

// drawingOf is the drawing of a counterexample.
func drawingOf(r *checker.Result) Drawing {
	return Drawing{Chart: NewChart(r.Scenario, r.Counterexample), Cycle: r.Counterexample.Cycle}
}

// The marks of a timeline.
const (
	markHolds    = "┃"
	markPreempts = "↷"
	markWrong    = "✗"
	markCycle    = "↻"
	markSame     = "│"
	markActs     = "•"
	markKilled   = "†"
	markSignal   = "^"
	markSkips    = "…"
)

// A layout is where things go on a line.
type layout struct {
	// lanes: each task has a column; otherwise all share one.
	lanes bool
	// aligned: answers are in a column of their own.
	aligned bool
	// terse: constants lose their prefix.
	terse bool
	// left is the width of what stands before the calls: mark, step, source.
	left  int
	cells []cellWidth
	files []int
	width int
}

// A cellWidth is the width of a lane's column: of its calls, and in all.
type cellWidth struct{ call, all int }

const (
	gutter   = 7 // mark, step
	laneGap  = 2
	fileGap  = 2
	barWidth = 2
	leastRow = 34
)

// draw writes the chart in the roomiest layout that fits.
func (d Drawing) draw(w *bufio.Writer, s Style) {
	d.paint(s, func(l *line, _ *Row) { _, _ = fmt.Fprintln(w, l.render(s, s.width())) })
}

// paint makes the lines of the chart, each with the row that it belongs to.
func (d Drawing) paint(s Style, emit func(*line, *Row)) {
	steps := len(d.Rows)
	if !s.Unfold {
		d.Chart = d.folded(d.Cycle, shortRows)
	}
	p := &painter{s: s, emit: emit, cycle: steps - d.Cycle}
	l := d.fit(s)
	if l.width > s.width() && len(d.Files) > 1 {
		d.Chart, p.merged = d.merged(), true
		l = d.fit(s)
	}
	p.Drawing, p.l = d, l
	p.heading()
	for i := range d.Rows {
		p.row(&d.Rows[i])
	}
	p.wrong()
	p.legend()
}

// fit returns the roomiest layout that fits, or else the tightest.
func (d Drawing) fit(s Style) layout {
	left := gutter
	if s.Source {
		left += d.sources()
	}
	var l layout
	for _, l = range []layout{
		{lanes: true, aligned: true}, {lanes: true, aligned: true, terse: true}, {lanes: true, terse: true},
		{aligned: true}, {aligned: true, terse: true}, {terse: true},
	} {
		l.left = left
		d.measure(&l)
		if l.width <= s.width() {
			break
		}
	}
	return l
}

// merged returns the chart with one column for all files, which tells what has changed.
func (c *Chart) merged() *Chart {
	m := *c
	merge := func(cells []FileCell) []FileCell {
		var out FileCell
		for k, cell := range cells {
			if cell.Changed {
				out.Changed = true
				out.Inode = max(out.Inode, cell.Inode)
				out.Text += "  " + c.Files[k] + " " + cell.Text
			}
		}
		out.Text = strings.TrimSpace(out.Text)
		return []FileCell{out}
	}
	first := slices.Clone(c.First)
	for k := range first {
		first[k].Changed = first[k].Exists
	}
	m.Files, m.First = []string{"files"}, merge(first)
	m.Rows = slices.Clone(c.Rows)
	for i := range m.Rows {
		m.Rows[i].Files = merge(m.Rows[i].Files)
	}
	return &m
}

// measure computes the widths of a layout.
func (d Drawing) measure(l *layout) {
	l.cells = make([]cellWidth, 1)
	if l.lanes {
		l.cells = make([]cellWidth, len(d.Lanes))
		for i := range d.Lanes {
			l.cells[i].all = columns(laneTitle(&d.Lanes[i]))
		}
	}
	answers := make([]int, len(l.cells))
	for i := range d.Rows {
		r := &d.Rows[i]
		at := max(0, r.Lane)
		if !l.lanes {
			at = 0
		}
		for _, c := range r.Calls {
			if r.Folded > 0 { // it is wrapped
				continue
			}
			call, answer := l.text(c)
			if answer == "" || !l.aligned || c.Operation {
				l.cells[at].all = max(l.cells[at].all, columns(call)+answerGap(answer))
				continue
			}
			l.cells[at].call = max(l.cells[at].call, columns(call))
			answers[at] = max(answers[at], columns(answer))
		}
	}
	l.width = l.left
	if !l.lanes {
		l.width += d.rail() + d.names()
	}
	for i := range l.cells {
		c := &l.cells[i]
		if c.call > 0 {
			c.all = max(c.all, c.call+2+answers[i])
		}
		l.width += c.all + laneGap
		if l.lanes {
			l.width += barWidth
		}
	}
	l.files = make([]int, len(d.Files))
	for k, name := range d.Files {
		l.files[k] = max(columns(name), columns(d.First[k].Text))
		for i := range d.Rows {
			if c := d.Rows[i].Files[k]; c.Changed {
				l.files[k] = max(l.files[k], columns(c.Text))
			}
		}
		l.width += l.files[k]
		if k > 0 {
			l.width += fileGap
		}
	}
}

func answerGap(answer string) int {
	if answer == "" {
		return 0
	}
	return 2 + columns(answer)
}

// sources is the width of the column with the lines of the source; 0 when none is known.
func (d Drawing) sources() int {
	n := 0
	for i := range d.Rows {
		n = max(n, columns(d.Rows[i].Source))
	}
	if n > 0 {
		n += laneGap
	}
	return n
}

// rail is the width of the bars of all lanes, when they share a column.
func (d Drawing) rail() int { return 2*len(d.Lanes) + 1 }

// names is the width of the lanes' names, when they share a column.
func (d Drawing) names() int {
	n := 0
	for i := range d.Lanes {
		n = max(n, columns(d.Lanes[i].Name))
	}
	return n + 2
}

func laneTitle(l *Lane) string { return fmt.Sprintf("%s  pid %d", l.Name, l.Pid) }

// text is a call as the layout shows it.
func (l *layout) text(c CallText) (call, answer string) {
	call, answer = c.Call, c.Answer
	if l.terse {
		if c.Terse != "" {
			call = c.Terse
		}
		if answer == "ok" {
			answer = ""
		}
	}
	if c.Operation {
		call, answer = call+" → "+answer, ""
	}
	return call, answer
}
