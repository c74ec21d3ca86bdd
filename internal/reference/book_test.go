package reference

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// A Page is one file of the reference. Name is relative to its directory, with slashes.
type Page struct{ Name, Text string }

// A book is what the pages are written from.
type book struct {
	list    []scenarios.Scenario
	results []checker.Result
	shapes  []all.Shape
	surveys []Survey
	on      map[Row][]checker.OnFileSystem
}

// A Row is a claim of a scenario: the ids of both.
type Row struct{ Scenario, Property string }

// A Survey is what a survey of a variant found out.
type Survey struct {
	Variant string
	Lines   []checker.Surveyed
}

// Subjects lists the protocols whose surveys the reference needs.
func Subjects(list []scenarios.Scenario) []scenarios.Subject {
	var out []scenarios.Subject
	for _, s := range all.Shapes() {
		for _, variant := range s.Surveyed {
			of := func(sc scenarios.Scenario) bool { return sc.Subject != nil && sc.Subject.ID == variant }
			if i := slices.IndexFunc(list, of); i >= 0 {
				out = append(out, *list[i].Subject)
			}
		}
	}
	return out
}

// Pages writes the reference from the scenarios, a result for each of their claims, and a
// survey of each of [Subjects]; on is what becomes of rows on each file system, where that was asked.
func Pages(list []scenarios.Scenario, results []checker.Result, surveys []Survey, on map[Row][]checker.OnFileSystem) ([]Page, error) {
	b := &book{list: list, results: results, shapes: all.Shapes(), surveys: surveys, on: on}
	if err := b.complete(); err != nil {
		return nil, err
	}
	pages := []Page{{"README.md", b.index()}, {"which-lock.md", b.whichLock()}, {"fixes-that-do-not-fix.md", b.fixes()}, {"where-reports-were-wrong.md", b.corrections()}}
	for i := range b.shapes {
		pages = append(pages, Page{"shapes/" + b.shapes[i].ID + ".md", b.shape(&b.shapes[i])})
	}
	return pages, nil
}

// complete reports a claim without its verdict: a reference with a gap is no reference.
func (b *book) complete() error {
	for i := range b.list {
		sc := &b.list[i]
		for _, c := range sc.Claims {
			switch r := b.result(sc.ID, c.Property); {
			case r == nil:
				return fmt.Errorf("reference: %s, %s: there is no result: decide it first", sc.ID, c.Property)
			case r.Verdict == checker.Unknown:
				return fmt.Errorf("reference: %s, %s is unknown (%s): raise the budget", sc.ID, c.Property, r.Why)
			}
		}
	}
	for _, s := range b.shapes {
		for _, v := range s.Surveyed {
			if b.survey(v) == nil {
				return fmt.Errorf("reference: there is no survey of %s, which stands for %s", v, s.ID)
			}
		}
	}
	rows := []string{}
	for _, f := range Fixes() {
		rows = append(rows, f.Row)
	}
	for _, c := range Corrections() {
		rows = append(rows, c.Rows...)
	}
	for _, id := range rows {
		if b.first(id) == nil {
			return fmt.Errorf("reference: a table names %s: there is no such scenario", id)
		}
	}
	return nil
}

// survey returns the survey of a variant, or nil.
func (b *book) survey(variant string) *Survey {
	i := slices.IndexFunc(b.surveys, func(s Survey) bool { return s.Variant == variant })
	if i < 0 {
		return nil
	}
	return &b.surveys[i]
}

// result returns the result on a property of a scenario, or nil.
func (b *book) result(id string, p *scenarios.Property) *checker.Result {
	i := slices.IndexFunc(b.results, func(r checker.Result) bool { return r.Scenario.ID == id && r.Property.ID == p.ID })
	if i < 0 {
		return nil
	}
	return &b.results[i]
}

// first returns a scenario's first broken result, or else its first; nil when there is none.
func (b *book) first(id string) *checker.Result {
	var found *checker.Result
	for i := range b.results {
		r := &b.results[i]
		if r.Scenario.ID == id && (found == nil || found.Verdict != checker.Broken && r.Verdict == checker.Broken) {
			found = r
		}
	}
	return found
}

// of lists the results on the variants of a shape, variant by variant in the shape's order.
func (b *book) of(s *all.Shape) []*checker.Result {
	var out []*checker.Result
	for _, v := range s.Variants {
		out = append(out, b.variant(v)...)
	}
	return out
}

// variant lists the results on a variant, system/variant.
func (b *book) variant(v string) []*checker.Result {
	var out []*checker.Result
	for i := range b.results {
		if strings.HasPrefix(b.results[i].Scenario.ID, v+"/") {
			out = append(out, &b.results[i])
		}
	}
	return out
}

// shapeOf returns the shape that a variant belongs to.
func (b *book) shapeOf(variant string) *all.Shape {
	i := slices.IndexFunc(b.shapes, func(s all.Shape) bool { return slices.Contains(s.Variants, variant) })
	return &b.shapes[i]
}

// sign is a verdict as one character.
func sign(v checker.Verdict) string {
	if v == checker.Holds {
		return "✓"
	}
	return "✗"
}

// verdict is a verdict with its property: "✗ mutual-exclusion".
func verdict(r *checker.Result) string { return sign(r.Verdict) + " " + r.Property.ID }

// conditions says what a verdict depends on that is not the program's doing; in brackets, or
// empty.
func conditions(r *checker.Result) string {
	if c := r.Conditions(); len(c) > 0 {
		return "<br>(" + cell(strings.Join(c, "; ")) + ")"
	}
	return ""
}

// schedule is the smallest schedule of a result, as code; empty when it holds.
func schedule(r *checker.Result) string {
	if r.Counterexample == nil {
		return ""
	}
	return "`" + r.Counterexample.Schedule.String() + "`"
}

// odds is the probability of a violation, in words; empty when it holds.
func odds(r *checker.Result) string {
	if r.Verdict != checker.Broken || r.Odds <= 0 {
		return ""
	}
	return report.OddsText(r.Odds)
}

// replay is the command that shows a result again.
func replay(r *checker.Result) string {
	if r.Counterexample == nil {
		return fmt.Sprintf("lockpick check --property %s %s", r.Property, r.Scenario.ID)
	}
	return report.ReplayCommand(r, report.Options{})
}

// cell makes a text safe inside a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
