package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockpick/checker"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// Tables write results for a person while they come in: a table for each system, with a row for each variant in each
// setting and a column for each property, as soon as it is complete.
type Tables struct{ sheet }

// NewTables returns tables without any results yet.
func NewTables(w io.Writer, o Options) *Tables { return &Tables{newSheet(w, o)} }

// Add writes the tables of some more results: all those of a system, or of several.
func (t *Tables) Add(results []checker.Result) error {
	for _, g := range Systems(results) {
		t.system(g)
	}
	return t.w.Flush()
}

// End writes what stands below the tables, about all results.
func (t *Tables) End(all []checker.Result) error {
	t.summary(all)
	return t.w.Flush()
}

// A Line is the results of one scenario: a line of a table.
type Line []*checker.Result

// A Group is the lines of one system.
type Group []Line

// Systems groups results by system and scenario, each in the order of its first result.
func Systems(results []checker.Result) []Group {
	var out []Group
	for i := range results {
		r := &results[i]
		g := slices.IndexFunc(out, func(g Group) bool { return g[0][0].Scenario.System() == r.Scenario.System() })
		if g < 0 {
			g, out = len(out), append(out, nil)
		}
		k := slices.IndexFunc(out[g], func(w Line) bool { return w[0].Scenario.ID == r.Scenario.ID })
		if k < 0 {
			k, out[g] = len(out[g]), append(out[g], nil)
		}
		out[g][k] = append(out[g][k], r)
	}
	return out
}

// columns lists the properties asked of a group, in the order of reports.
func (g Group) columns() []*scenarios.Property {
	var all []checker.Result
	for _, r := range g {
		for _, x := range r {
			all = append(all, *x)
		}
	}
	return Properties(all)
}

// Of is the result on a property; nil where there is none.
func (r Line) Of(p *scenarios.Property) *checker.Result {
	for _, x := range r {
		if x.Property.ID == p.ID {
			return x
		}
	}
	return nil
}

// interesting: not everything is as claimed.
func (r Line) interesting() bool {
	return slices.ContainsFunc(r, func(x *checker.Result) bool { return !x.AsClaimed() })
}

func (m *Tables) system(g Group) {
	rows := g
	if m.o.Quiet {
		rows = slices.DeleteFunc(slices.Clone(g), func(r Line) bool { return !r.interesting() })
	}
	if len(rows) == 0 {
		return
	}
	if m.written {
		m.line("")
	}
	t := m.table(rows)
	m.heading(rows, t)
	for _, r := range rows {
		m.row(r, t)
		m.conditions(r)
		m.evidence(r)
	}
}

// A table is the layout of one system's rows.
type table struct {
	name  int // the width of the first column
	props []*scenarios.Property
	width []int // of each property's column; nil: the verdicts stand below the name
	below bool  // the setting stands below the name
}

// table chooses the roomiest layout that fits.
func (m *Tables) table(rows Group) table {
	t := table{props: rows.columns(), name: columns(Visible(rows[0][0].Scenario.System()))}
	setting := 0
	for _, r := range rows {
		t.name = max(t.name, columns(rowName(r[0].Scenario))+2)
		setting = max(setting, columns(r[0].Scenario.Setting.String()))
	}
	room := m.o.width() - t.name
	for _, least := range []int{columnWidth, 0} {
		sum := 0
		t.width = nil
		for _, p := range t.props {
			w := max(least, widthOf(p, rows))
			t.width = append(t.width, w)
			sum += 2 + w
		}
		if t.below = sum+2+setting > room; !t.below {
			return t
		}
		if least == 0 && sum > room {
			t.width = nil
		}
	}
	return t
}

// row writes the verdicts on one scenario.
func (m *Tables) row(r Line, t table) {
	sc := r[0].Scenario
	head, setting := "  "+rowName(sc), pieceOf(dim, sc.Setting.String())
	if t.width == nil {
		pieces := []piece{pieceOf(plain, head)}
		if t.name <= m.o.width()/2 {
			pieces[0].text = pad(head, t.name)
		}
		for _, x := range r {
			text, i := cell(x)
			pieces = append(pieces, pieceOf(i, text+" "+x.Property.ID))
		}
		m.flow(append(pieces, setting), "  ", "      ")
		return
	}
	line := pad(head, t.name)
	for k, p := range t.props {
		text, i := "·", dim
		if x := r.Of(p); x != nil {
			text, i = cell(x)
		}
		line += "  " + m.o.paint(i, text) + pad("", t.width[k]-columns(text))
	}
	if !t.below {
		m.line(line + "  " + m.o.paint(setting.ink, setting.text))
		return
	}
	m.line(line)
	m.lines(4, setting.ink, wrap(setting.text, m.o.width()-4))
}

// cell is one glyph, and what it says of the claim when the two differ.
func cell(r *checker.Result) (text string, i ink) {
	text = Glyph(r.Verdict)
	if r.Accepted != "" {
		return text + " accepted", warn
	}
	if r.AsClaimed() || !r.Claimed || r.Verdict == checker.Unknown {
		return text, verdictInk(r.Verdict)
	}
	if r.Verdict == r.Claim { // but in other cases than the claim says
		return text + " not as claimed", warn
	}
	return text + " not " + Glyph(r.Claim), warn
}

// conditions writes below a row what its verdicts depend on; a text that is about some of
// the properties only begins with their names.
func (m *Tables) conditions(r Line) {
	var texts []string
	about := map[string][]string{}
	for _, x := range r {
		for _, text := range x.Conditions() {
			if about[text] == nil {
				texts = append(texts, text)
			}
			about[text] = append(about[text], x.Property.ID)
		}
	}
	for _, x := range r {
		if x.AnyNumber != "" {
			m.lines(4, dim, wrap(x.Property.ID+": proved for "+x.AnyNumber, m.o.width()-4))
		}
		if x.BrokenWith > 0 {
			m.lines(4, warn, wrap(fmt.Sprintf("%s: %d processes break it, --procs %[2]d shows how", x.Property.ID,
				x.BrokenWith), m.o.width()-4))
		}
	}
	for _, text := range texts {
		line := text
		if len(about[text]) < len(r) {
			line = strings.Join(about[text], ", ") + ": " + text
		}
		m.lines(4, dim, wrap(line, m.o.width()-4))
	}
}

// evidence writes below a row what its verdicts rest on; what is as expected only when
// it is asked for.
func (m *Tables) evidence(r Line) {
	for _, x := range r {
		but := x.Uncontended()
		expected := x.Verdict != checker.Unknown && (x.AsClaimed() || !x.Claimed)
		if expected && but == "" && !m.o.Verbose && !m.o.Quiet {
			continue
		}
		head := pieceOf(verdictInk(x.Verdict), fmt.Sprintf("    %s %s:", Glyph(x.Verdict), x.Property))
		m.flow(append([]piece{head}, words(plain, evidenceText(x))...), " ", "      ")
		if c := x.Counterexample; c != nil && c.Cause != "" {
			m.lines(6, dim, wrap(c.Cause, m.o.width()-8))
		}
		if text := x.AcceptedText(); text != "" {
			m.lines(6, warn, wrap(text+".", m.o.width()-8))
		}
		if m.o.Verbose {
			m.line("      " + m.o.paint(dim, countsText(x, m.o)))
		}
	}
}

func evidenceText(r *checker.Result) string {
	switch {
	case r.Counterexample != nil && r.Why != "" && !r.Counterexample.Smallest:
		return r.Counterexample.Schedule.String() + "; " + r.Why
	case r.Counterexample != nil:
		return r.Counterexample.Schedule.String()
	case r.Verdict == checker.Holds:
		text := "no schedule of " + r.Scenario.Setting.String() + " breaks it"
		if but := r.Uncontended(); but != "" {
			text += ", but " + but
		}
		return text
	}
	return r.Known()
}

// countsText is what an exploration did.
func countsText(r *checker.Result, o Options) string {
	s := &r.Stats
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{s.States, "state", "states"}, {s.Transitions, "transition", "transitions"},
		{s.Schedules, "schedule", "schedules"}, {s.Histories, "history", "histories"},
	} {
		if c.n > 0 {
			parts = append(parts, numbers.Count(c.n, c.one, c.many))
		}
		if c.one == "state" && s.Symmetry {
			parts[0] += " up to symmetry"
		}
	}
	if o.Timings {
		parts = append(parts, r.Elapsed.Round(time.Millisecond).String())
	}
	return strings.Join(parts, " · ")
}

// summary writes the counts at the end, and the legend.
func (m *Tables) summary(results []checker.Result) {
	var n [3]int
	var differs, unclaimed, accepted, states int
	var elapsed time.Duration
	for i := range results {
		r := &results[i]
		n[r.Verdict]++
		states += r.Stats.States
		elapsed += r.Elapsed
		switch {
		case r.Accepted != "":
			accepted++
		case !r.Claimed:
			unclaimed++
		case r.Verdict != checker.Unknown && !r.AsClaimed():
			differs++
		}
	}
	if m.written {
		m.line("")
	}
	if !m.o.Quiet {
		legend := []piece{pieceOf(dim, "✓ holds"), pieceOf(dim, "✗ broken"), pieceOf(dim, "? unknown"), pieceOf(dim, "· not asked"), pieceOf(dim, "✗ not ✓  differs from the claim")}
		m.flow(legend, "   ", "")
	}
	var texts, painted []string
	for _, v := range []checker.Verdict{checker.Broken, checker.Holds, checker.Unknown} {
		if n[v] > 0 {
			text := fmt.Sprintf("%d %s", n[v], v)
			texts, painted = append(texts, text), append(painted, m.o.paint(verdictInk(v), text))
		}
	}
	head := numbers.Count(len(results), "verdict", "verdicts") + ": "
	pieces := []piece{{text: head + strings.Join(texts, ", "), painted: head + strings.Join(painted, ", ")}}
	switch {
	case differs > 0:
		pieces = append(pieces, pieceOf(bad, fmt.Sprintf("%d not as claimed", differs)))
	case n[checker.Unknown] == 0 && unclaimed+accepted < len(results):
		all := map[bool]string{false: "all as claimed", true: "the others as claimed"}[accepted > 0]
		pieces = append(pieces, pieceOf(good, all))
	}
	if accepted > 0 {
		pieces = append(pieces, pieceOf(warn, fmt.Sprintf("%d accepted", accepted)))
	}
	if unclaimed > 0 {
		pieces = append(pieces, pieceOf(plain, fmt.Sprintf("%d not claimed", unclaimed)))
	}
	if states > 0 {
		pieces = append(pieces, pieceOf(plain, numbers.Count(states, "state", "states")))
	}
	if m.o.Timings {
		pieces = append(pieces, pieceOf(plain, elapsed.Round(time.Millisecond).String()))
	}
	if m.o.Flags != "" {
		pieces = append(pieces, pieceOf(plain, "with "+m.o.Flags))
	}
	m.flow(pieces, " · ", "")
}
