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

// Mermaid writes a counterexample as a Mermaid sequence diagram: the tasks and the lock
// file are its participants. A call on the lock file is an arrow to it, any other call
// an arrow from the task to itself; the bar of a task shows how long it believes to
// hold the lock, notes beside the file what stands there, and notes over the tasks
// preemptions, faults and what goes wrong.
func Mermaid(w io.Writer, r *checker.Result) error {
	b := bufio.NewWriter(w)
	if r.Counterexample == nil {
		return fmt.Errorf("report: %s, %s: there is no counterexample to draw", r.Scenario.ID, r.Property)
	}
	c := NewChart(r.Scenario, r.Counterexample)
	c.Judge(r.Scenario, r.Counterexample)
	m := &mermaid{w: b, chart: c, cx: r.Counterexample, lock: r.Scenario.Watch}
	m.draw()
	return b.Flush()
}

type mermaid struct {
	w      *bufio.Writer
	chart  *Chart
	cx     *trace.Counterexample
	lock   []string // the watched files
	active []bool
}

func (m *mermaid) line(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, "    "+format+"\n", args...)
}

func (m *mermaid) draw() {
	_, _ = fmt.Fprintln(m.w, "sequenceDiagram")
	for i := range m.chart.Lanes {
		l := &m.chart.Lanes[i]
		m.line("participant %s as %s (pid %d)", m.lane(i), mermaidText(l.Name), l.Pid)
	}
	if len(m.chart.Files) > 0 {
		m.line("participant L as %s", mermaidText(m.chart.Files[0]))
		if m.chart.First[0].Exists {
			m.line("Note right of L: %s", mermaidText(m.chart.First[0].Text))
		}
	}
	m.active = make([]bool, len(m.chart.Lanes))
	loop := len(m.chart.Rows) - m.cx.Cycle
	for i := range m.chart.Rows {
		if m.cx.Cycle > 0 && i == loop {
			m.line("loop for ever")
		}
		m.row(i)
	}
	if m.cx.Cycle > 0 && len(m.chart.Rows) > 0 {
		m.line("end")
	}
	if m.chart.Wrong != "" {
		m.line("Note over %s: %s", m.all(), mermaidText("✗ "+m.chart.Wrong))
	}
}

// lane is the name of a participant.
func (m *mermaid) lane(i int) string {
	return fmt.Sprintf("T%s%d", string(m.chart.Lanes[i].Task.String()[0]), m.chart.Lanes[i].Task.N)
}

// all is every participant, for a note over them.
func (m *mermaid) all() string {
	first, last := m.lane(0), m.lane(len(m.chart.Lanes)-1)
	if len(m.chart.Files) > 0 {
		last = "L"
	}
	if first == last {
		return first
	}
	return first + "," + last
}

func (m *mermaid) row(i int) {
	r := &m.chart.Rows[i]
	switch {
	case r.Lane < 0:
		m.line("Note over %s: %s", m.all(), mermaidText(fmt.Sprintf("%d. %s", r.N, r.text())))
	case r.Fault:
		m.line("Note over %s: %s", m.lane(r.Lane), mermaidText(fmt.Sprintf("%d. %s", r.N, r.text())))
	default:
		if r.Preempts {
			m.line("Note over %s: preempts", m.lane(r.Lane))
		}
		m.calls(i, r)
	}
	m.bars(r)
	if len(r.Files) > 0 && r.Files[0].Changed {
		text := r.Files[0].Text
		if !r.Files[0].Exists {
			text = "gone"
		}
		m.line("Note right of L: %s", mermaidText(text))
	}
}

// calls draws an arrow for each call of a step, and a note for each operation that
// returned with it.
func (m *mermaid) calls(i int, r *Row) {
	st := &m.chart.Walk.Steps[i]
	for k, c := range r.Calls {
		if c.Operation {
			m.line("Note over %s: %s", m.lane(r.Lane), mermaidText(c.Call+" → "+c.Answer))
			continue
		}
		to, arrow := m.lane(r.Lane), "->>"
		if k < len(st.Targets) && len(m.chart.Files) > 0 && touches(st.Targets[k], m.lock[0]) {
			to = "L"
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

// bars begins and ends the bars of tasks that hold.
func (m *mermaid) bars(r *Row) {
	for i, h := range r.Holding {
		switch {
		case h && !m.active[i]:
			m.line("activate %s", m.lane(i))
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

// touches reports whether a call is about a name.
func touches(targets []trace.Target, path string) bool {
	return slices.ContainsFunc(targets, func(t trace.Target) bool { return t.Path == path })
}
