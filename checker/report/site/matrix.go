package site

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// A system is the rows of one system, in the order of the results.
type system struct {
	Name string
	N    int // from 0
	Rows []*row
}

// A row is the results of one scenario.
type row struct {
	Scenario *scenarios.Scenario
	Results  report.Line
	File     string // the page, relative to the directory of index.html
}

// bySystem groups results by system and scenario.
func bySystem(results []checker.Result) []*system {
	var out []*system
	for n, g := range report.Systems(results) {
		s := &system{Name: g[0][0].Scenario.System(), N: n}
		for _, l := range g {
			sc := l[0].Scenario
			s.Rows = append(s.Rows, &row{Scenario: sc, Results: l, File: "scenarios/" + fileOf(sc.ID)})
		}
		out = append(out, s)
	}
	return out
}

// Name is the id without its system.
func (w *row) Name() string { return w.Scenario.Variant() + "/" + w.Scenario.SettingName() }

// Find is what a row is found by: its names, what it is about, and why it breaks.
func (w *row) Find() string {
	sc := w.Scenario
	words := []string{sc.ID, sc.Summary, sc.Report, sc.Entry.Shape, sc.Hazard(), strings.Join(sc.Entry.Projects, " ")}
	for _, r := range w.Results {
		words = append(words, r.Property.ID)
		if r.Counterexample != nil {
			words = append(words, r.Counterexample.Mistake, r.Counterexample.Cause)
		}
	}
	return strings.ToLower(report.Visible(strings.Join(words, " ")))
}

// Bounds are the bounds of the row's setting.
func (w *row) Bounds() string { return w.Scenario.Setting.String() }

// Classes are the verdicts that occur in the row, for the filter.
func (w *row) Classes() string {
	var out []string
	for _, r := range w.Results {
		for _, c := range classes(r) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return strings.Join(out, " ")
}

// Classes are the verdicts that occur in the system.
func (s *system) Classes() string {
	out := []string{fmt.Sprintf("sys-%d", s.N)}
	for _, w := range s.Rows {
		for _, c := range strings.Fields(w.Classes()) {
			if !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	return strings.Join(out, " ")
}

func classes(r *checker.Result) []string {
	out := []string{"has-" + r.Verdict.String()}
	if differs(r) {
		out = append(out, "has-differs")
	}
	return out
}

func differs(r *checker.Result) bool { return r.Claimed && !r.AsClaimed() }

// A cell is one verdict of the matrix.
type cell struct {
	Asked    bool
	Property string
	Verdict  string
	Glyph    string
	Differs  string // the claim, when the verdict is another
	Note     string
	Link     string
}

func newCell(w *row, p *scenarios.Property) cell {
	r := w.Results.Of(p)
	if r == nil {
		return cell{Property: p.ID}
	}
	c := cell{
		Asked: true, Property: p.ID, Verdict: r.Verdict.String(), Glyph: report.Glyph(r.Verdict),
		Link: w.File + "#" + p.ID,
	}
	if differs(r) {
		c.Differs = r.ClaimText()
	}
	switch {
	case r.Counterexample != nil:
		c.Note = count(len(r.Counterexample.Schedule), "step", "steps")
	case r.Verdict == checker.Holds && r.Stats.States > 0:
		c.Note = count(r.Stats.States, "state", "states")
	case r.Verdict == checker.Holds:
		c.Note = count(r.Stats.Schedules, "schedule", "schedules")
	case r.Stats.States > 0:
		c.Note = count(r.Stats.States, "state", "states") + " seen"
	}
	return c
}
