package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"lockpick/checker"
	"lockpick/scenarios"
)

// Matrix writes results for a person: a table for each system, with a row for each
// variant in each setting and a column for each property.
func Matrix(w io.Writer, results []checker.Result, o Options) error {
	t := NewTables(w, o)
	if err := t.Add(results); err != nil {
		return err
	}
	return t.End(results)
}

// Tables write a matrix while its verdicts come in: each system's table as soon as it is
// complete.
type Tables struct{ m matrix }

// NewTables returns tables without any results yet.
func NewTables(w io.Writer, o Options) *Tables {
	return &Tables{matrix{w: bufio.NewWriter(w), o: o}}
}

// Add writes the tables of some more results: all those of a system, or of several.
func (t *Tables) Add(results []checker.Result) error {
	for _, g := range bySystem(results) {
		t.m.system(g)
	}
	return t.m.w.Flush()
}

// End writes what stands below the tables, about all results.
func (t *Tables) End(all []checker.Result) error {
	t.m.largest(all)
	t.m.summary(all)
	return t.m.w.Flush()
}

type matrix struct {
	w *bufio.Writer
	o Options
	// written: something has been written already.
	written bool
}

func (m *matrix) line(text string) {
	_, _ = fmt.Fprintln(m.w, strings.TrimRight(text, " "))
	m.written = true
}

// A matrixRow is the results of one scenario.
type matrixRow []*checker.Result

// A matrixGroup is the rows of one system.
type matrixGroup []matrixRow

// bySystem groups results, which come scenario by scenario.
func bySystem(results []checker.Result) []matrixGroup {
	var out []matrixGroup
	for i := range results {
		r := &results[i]
		g := len(out) - 1
		if g < 0 || out[g][0][0].Scenario.System() != r.Scenario.System() {
			out = append(out, matrixGroup{{r}})
			continue
		}
		k := len(out[g]) - 1
		if out[g][k][0].Scenario.ID == r.Scenario.ID {
			out[g][k] = append(out[g][k], r)
		} else {
			out[g] = append(out[g], matrixRow{r})
		}
	}
	return out
}

// columns lists the properties asked of a group, in the order of reports.
func (g matrixGroup) columns() []*scenarios.Property {
	var all []checker.Result
	for _, r := range g {
		for _, x := range r {
			all = append(all, *x)
		}
	}
	return Properties(all)
}

func (r matrixRow) of(p *scenarios.Property) *checker.Result {
	for _, x := range r {
		if x.Property.ID == p.ID {
			return x
		}
	}
	return nil
}

// interesting: not everything is as claimed.
func (r matrixRow) interesting() bool {
	return slices.ContainsFunc(r, func(x *checker.Result) bool { return !x.AsClaimed() })
}

func (m *matrix) system(g matrixGroup) {
	rows := g
	if m.o.Quiet {
		rows = slices.DeleteFunc(slices.Clone(g), func(r matrixRow) bool { return !r.interesting() })
	}
	if len(rows) == 0 {
		return
	}
	props := rows.columns()
	name := runes(rows[0][0].Scenario.System())
	for _, r := range rows {
		name = max(name, runes(rowName(r[0].Scenario))+2)
	}
	if m.written {
		m.line("")
	}
	m.heading(rows[0][0].Scenario.System(), name, props)
	for _, r := range rows {
		m.row(r, name, props)
		m.evidence(r)
	}
}

func (m *matrix) row(r matrixRow, name int, props []*scenarios.Property) {
	line := pad("  "+rowName(r[0].Scenario), name)
	for _, p := range props {
		line += "  " + m.cell(r.of(p), widthOf(p))
	}
	line += "  " + m.o.paint(dim, r[0].Scenario.Setting.String())
	m.line(line)
}

// cell is one glyph, and what it says of the claim when the two differ.
func (m *matrix) cell(r *checker.Result, width int) string {
	if r == nil {
		return m.o.paint(dim, pad("·", width))
	}
	text := glyph(r.Verdict)
	switch {
	case r.AsClaimed() || !r.Claimed || r.Verdict == checker.Unknown:
		return m.o.paint(verdictInk(r.Verdict), text) + pad("", width-runes(text))
	}
	text += " not " + glyph(r.Claim)
	return m.o.paint(warn, text) + pad("", width-runes(text))
}

// evidence writes below a row what its verdicts rest on; what is as expected only when
// it is asked for.
func (m *matrix) evidence(r matrixRow) {
	for _, x := range r {
		expected := x.Verdict != checker.Unknown && (x.AsClaimed() || !x.Claimed)
		if expected && !m.o.Verbose && !m.o.Quiet {
			continue
		}
		head := fmt.Sprintf("    %s %s: ", glyph(x.Verdict), x.Property)
		m.line(m.o.paint(verdictInk(x.Verdict), head) + evidenceText(x))
		if c := x.Counterexample; c != nil && c.Cause != "" {
			for _, l := range wrap(c.Cause, m.o.width()-8) {
				m.line("      " + m.o.paint(dim, l))
			}
		}
		if m.o.Verbose {
			m.line("      " + m.o.paint(dim, countsText(x, m.o)))
		}
	}
}

func evidenceText(r *checker.Result) string {
	switch {
	case r.Counterexample != nil:
		return r.Counterexample.Schedule.String()
	case r.Verdict == checker.Holds:
		return "no schedule of " + r.Scenario.Setting.String() + " breaks it"
	}
	return r.Why
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
			parts = append(parts, count(c.n, c.one, c.many))
		}
	}
	if o.Timings {
		parts = append(parts, r.Elapsed.Round(time.Millisecond).String())
	}
	return strings.Join(parts, " · ")
}

// summary writes the counts at the end, and the legend.
func (m *matrix) summary(results []checker.Result) {
	var n [3]int
	var differs, unclaimed, states int
	var elapsed time.Duration
	for i := range results {
		r := &results[i]
		n[r.Verdict]++
		states += r.Stats.States
		elapsed += r.Elapsed
		switch {
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
		m.line(m.o.paint(dim, "✓ holds   ✗ broken   ? unknown   · not asked   ✗ not ✓  differs from the claim"))
	}
	var parts []string
	for _, v := range []checker.Verdict{checker.Broken, checker.Holds, checker.Unknown} {
		if n[v] > 0 {
			parts = append(parts, m.o.paint(verdictInk(v), fmt.Sprintf("%d %s", n[v], v)))
		}
	}
	text := count(len(results), "verdict", "verdicts") + ": " + strings.Join(parts, ", ")
	switch {
	case differs > 0:
		text += " · " + m.o.paint(bad, fmt.Sprintf("%d not as claimed", differs))
	case n[checker.Unknown] == 0 && unclaimed < len(results):
		text += " · " + m.o.paint(good, "all as claimed")
	}
	if unclaimed > 0 {
		text += fmt.Sprintf(" · %d not claimed", unclaimed)
	}
	if states > 0 {
		text += " · " + count(states, "state", "states")
	}
	if m.o.Timings {
		text += " · " + elapsed.Round(time.Millisecond).String()
	}
	if m.o.Flags != "" {
		text += " · with " + m.o.Flags
	}
	m.line(text)
}
