package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
)

// Mermaid writes a counterexample as a Mermaid sequence diagram: the tasks and the watched
// files are its participants. A call on a watched file is an arrow to it, any other call
// an arrow from the task to itself. The bar of a task shows how long it believes to hold
// the lock, a red ground where it does so together with others. Notes say what stands at
// the names, who preempts, what goes wrong, and the command that shows it again. Long
// stretches are folded, unless o says otherwise.
func Mermaid(w io.Writer, r *checker.Result, o Options) error {
	b := bufio.NewWriter(w)
	if r.Counterexample == nil {
		return fmt.Errorf("report: %s, %s: there is no counterexample to draw", r.Scenario.ID, r.Property)
	}
	c := NewChart(r.Scenario, r.Counterexample)
	c.Judge(r.Scenario, r.Counterexample)
	m := &mermaid{w: b, chart: c, cx: r.Counterexample, loop: len(c.Rows) - r.Counterexample.Cycle}
	if !o.Unfold {
		m.chart = c.folded(r.Counterexample.Cycle)
	}
	m.draw(ReplayCommand(r, o))
	return b.Flush()
}

type mermaid struct {
	w     *bufio.Writer
	chart *Chart
	cx    *trace.Counterexample
	loop  int // the last step that is not part of the cycle
	// active are the lanes that hold; clash says that a red ground has begun.
	active []bool
	clash  bool
}

func (m *mermaid) line(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, "    "+format+"\n", args...)
}

func (m *mermaid) draw(replay string) {
	_, _ = fmt.Fprintln(m.w, "sequenceDiagram")
	for i := range m.chart.Lanes {
		l := &m.chart.Lanes[i]
		m.line("participant %s as %s (pid %d)", m.lane(i), mermaidText(l.Name), l.Pid)
	}
	for k, name := range m.chart.Files {
		m.line("participant %s as %s", m.file(k), mermaidText(name))
	}
	for k, first := range m.chart.First {
		if first.Exists {
			m.note(m.file(k), first.Text)
		}
	}
	m.active = make([]bool, len(m.chart.Lanes))
	looping := false
	for i := range m.chart.Rows {
		if r := &m.chart.Rows[i]; m.cx.Cycle > 0 && !looping && r.N > m.loop {
			m.ground(false)
			m.line("loop for ever")
			looping = true
		}
		m.row(&m.chart.Rows[i])
	}
	m.ground(false)
	if looping {
		m.line("end")
	}
	if m.chart.Wrong != "" {
		m.note(m.all(), "✗ "+m.chart.Wrong)
	}
	m.note(m.all(), replay)
	m.bars(make([]bool, len(m.active))) // a bar that does not end is not drawn
}

// noteWidth is how many columns the line of a note has at most where it stands over one
// participant: Mermaid does not wrap, and long ones stick out of their boxes.
const noteWidth = 26

func (m *mermaid) note(over, text string) {
	lines := []string{text}
	if !strings.Contains(over, ",") {
		lines = wrap(text, noteWidth)
	}
	for i := range lines {
		lines[i] = mermaidText(lines[i])
	}
	m.line("Note over %s: %s", over, strings.Join(lines, "<br/>"))
}

// lane is the name of a participant.
func (m *mermaid) lane(i int) string {
	return fmt.Sprintf("T%s%d", string(m.chart.Lanes[i].Task.String()[0]), m.chart.Lanes[i].Task.N)
}

// file is the name of a file's participant.
func (m *mermaid) file(k int) string { return fmt.Sprintf("F%d", k+1) }

// all is every participant, for a note over them.
func (m *mermaid) all() string {
	first, last := m.lane(0), m.lane(len(m.chart.Lanes)-1)
	if n := len(m.chart.Files); n > 0 {
		last = m.file(n - 1)
	}
	if first == last {
		return first
	}
	return first + "," + last
}

func (m *mermaid) row(r *Row) {
	m.ground(r.Clash)
	switch {
	case r.Lane < 0:
		m.note(m.all(), fmt.Sprintf("%d. %s", r.N, r.text()))
	case r.Fault, r.Folded > 0:
		m.note(m.lane(r.Lane), fmt.Sprintf("%d. %s", r.N, r.text()))
	default:
		if r.Preempts {
			m.note(m.lane(r.Lane), "preempts")
		}
		m.calls(r)
	}
	m.bars(r.Holding)
	for k, f := range r.Files {
		if !f.Changed {
			continue
		}
		if f.Exists {
			m.note(m.file(k), f.Text)
		} else {
			m.note(m.file(k), "gone")
		}
	}
}

// ground begins a red ground, or ends it.
func (m *mermaid) ground(clash bool) {
	switch {
	case clash && !m.clash:
		m.line("rect rgba(200, 40, 40, 0.18)")
	case !clash && m.clash:
		m.line("end")
	}
	m.clash = clash
}

// calls draws an arrow for each call of a step, and a note for each operation that
// returned with it.
func (m *mermaid) calls(r *Row) {
	st := &m.chart.Walk.Steps[r.N-1]
	for k, c := range r.Calls {
		if c.Operation {
			m.note(m.lane(r.Lane), c.Call+" → "+c.Answer)
			continue
		}
		to, arrow := m.lane(r.Lane), "->>"
		if k < len(st.Targets) {
			if i := m.touched(st.Targets[k]); i >= 0 {
				to = m.file(i)
			}
		}
		if c.Failed {
			arrow = "-x"
		}
		text := c.Call
		if c.Answer != "" {
			text += " " + c.Answer
		}
		m.line("%s%s%s: %s", m.lane(r.Lane), arrow, to, mermaidText(fmt.Sprintf("%d. %s", r.N, text)))
	}
}

// touched is the first of the files shown that a call is about, or -1.
func (m *mermaid) touched(targets []trace.Target) int {
	return slices.IndexFunc(m.chart.Files, func(name string) bool {
		return slices.ContainsFunc(targets, func(t trace.Target) bool {
			return t.Path != "" && m.chart.Walk.Names.Short(t.Path) == name
		})
	})
}

// bars begins and ends the bars of tasks that hold, and says so when they begin.
func (m *mermaid) bars(holding []bool) {
	for i, h := range holding {
		switch {
		case h && !m.active[i]:
			m.line("activate %s", m.lane(i))
			m.note(m.lane(i), "holds")
		case !h && m.active[i]:
			m.line("deactivate %s", m.lane(i))
		}
		m.active[i] = h
	}
}

// mermaidText escapes a text for the rest of a line. A semicolon would end the line, a
// hash begins an entity, and angle brackets are taken for HTML. Quotes and the
// typographic signs of a timeline are plain characters.
func mermaidText(s string) string {
	return strings.NewReplacer(
		"#", "#35;", ";", "#59;", "<", "#lt;", ">", "#gt;", "%%", "%#37;", "\n", " ", "\r", " ",
		"\\", "#92;", "`", "#96;", "$", "#36;",
	).Replace(s)
}
