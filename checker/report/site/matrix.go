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
	Results  []*checker.Result
	File     string // the page, relative to the directory of index.html
}

// bySystem groups results by system and scenario, each in the order of its first.
func bySystem(results []checker.Result) []*system {
	var out []*system
	for i := range results {
		r := &results[i]
		s := slices.IndexFunc(out, func(s *system) bool { return s.Name == r.Scenario.System() })
		if s < 0 {
			s = len(out)
			out = append(out, &system{Name: r.Scenario.System(), N: s})
		}
		sys := out[s]
		k := slices.IndexFunc(sys.Rows, func(w *row) bool { return w.Scenario.ID == r.Scenario.ID })
		if k < 0 {
			k = len(sys.Rows)
			sys.Rows = append(sys.Rows, &row{Scenario: r.Scenario, File: "scenarios/" + fileOf(r.Scenario.ID)})
		}
		sys.Rows[k].Results = append(sys.Rows[k].Results, r)
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

func (w *row) of(p *scenarios.Property) *checker.Result {
	for _, r := range w.Results {
		if r.Property.ID == p.ID {
			return r
		}
	}
	return nil
}

// properties lists those that any result is about, in the order of reports.
func properties(systems []*system) []*scenarios.Property {
	var all []checker.Result
	for _, s := range systems {
		for _, w := range s.Rows {
			for _, r := range w.Results {
				all = append(all, *r)
			}
		}
	}
	return report.Properties(all)
}

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
	r := w.of(p)
	if r == nil {
		return cell{Property: p.ID}
	}
	c := cell{
		Asked: true, Property: p.ID, Verdict: r.Verdict.String(), Glyph: glyph(r.Verdict),
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

// glyph is a verdict as one character.
func glyph(v checker.Verdict) string { return [...]string{"?", "✓", "✗"}[v] }
