package reference

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// generated is the line that every page begins with.
const generated = "<!-- Generated from verdicts: go test ./internal/reference -update -->\n\n"

// index is the front page: every shape with its verdicts by hazard.
func (b *book) index() string {
	var w strings.Builder
	w.WriteString(generated + "# The reference of lock files\n\n")
	broken := 0
	for i := range b.results {
		if b.results[i].Verdict == checker.Broken {
			broken++
		}
	}
	fmt.Fprintf(&w, "Every lock-file protocol that lockpick knows, decided: %d protocols of %d systems in %d situations, %d verdicts, of which %d are broken and %d hold. "+
		"Each verdict is over all interleavings within the bounds of its row, on the modelled machine; each broken one comes with the smallest schedule, which a command replays.\n\n",
		b.count((*scenarios.Scenario).Variant, true), b.count((*scenarios.Scenario).System, false), len(b.list), len(b.results), broken, len(b.results)-broken)
	w.WriteString("- [Which lock should I use?](which-lock.md)\n- [Fixes that do not fix](fixes-that-do-not-fix.md)\n" +
		"- [Where reports and fixes were wrong](where-reports-were-wrong.md)\n- [One step further](" + FurtherPage +
		"): what holds, with one process, crash or stall more\n- [What mends what is broken](" + RepairsPage +
		"): the smallest change found, beside a variant that holds\n\n")
	w.WriteString("## Shapes\n\nLocks that stand and fall together. ✓ every row about this hazard holds, ✗ every row is broken, ✗✓ it depends on the variant: see the page of the shape. An empty cell has no row of its own.\n\n")
	hazards := b.hazards()
	w.WriteString("| shape |")
	for _, h := range hazards {
		w.WriteString(" " + h.ID + " |")
	}
	w.WriteString("\n|---|" + strings.Repeat(":-:|", len(hazards)) + "\n")
	for i := range b.shapes {
		s := &b.shapes[i]
		fmt.Fprintf(&w, "| [%s](shapes/%s.md) |", cell(s.Title), s.ID)
		for _, h := range hazards {
			w.WriteString(" " + b.under(s, h.ID) + " |")
		}
		w.WriteString("\n")
	}
	w.WriteString("\n| hazard | what may happen |\n|---|---|\n")
	for _, h := range scenarios.Hazards() {
		meaning := h.Meaning
		if !slices.Contains(hazards, h) {
			meaning += " Nothing is asked about it yet: the machine does not model it."
		}
		fmt.Fprintf(&w, "| %s | %s |\n", h.ID, meaning)
	}
	w.WriteString("\n## Systems\n\n| system | has its lock from, or is known to use it | shapes |\n|---|---|---|\n")
	b.systems(&w)
	return w.String()
}

// count counts the distinct parts of ids, with the system in front or without.
func (b *book) count(part func(*scenarios.Scenario) string, within bool) int {
	var seen []string
	for i := range b.list {
		p := part(&b.list[i])
		if within {
			p = b.list[i].System() + "/" + p
		}
		seen = append(seen, p)
	}
	slices.Sort(seen)
	return len(slices.Compact(seen))
}

// hazards lists those that some row is about.
func (b *book) hazards() []scenarios.Hazard {
	return slices.DeleteFunc(scenarios.Hazards(), func(h scenarios.Hazard) bool {
		return !slices.ContainsFunc(b.list, func(sc scenarios.Scenario) bool { return sc.Hazard() == h.ID })
	})
}

// under sums up the rows of a shape about one hazard.
func (b *book) under(s *all.Shape, hazard string) string {
	var holds, broken bool
	for _, r := range b.of(s) {
		if r.Scenario.Hazard() == hazard {
			holds = holds || r.Verdict == checker.Holds
			broken = broken || r.Verdict == checker.Broken
		}
	}
	switch {
	case holds && broken:
		return "✗✓"
	case broken:
		return "✗"
	case holds:
		return "✓"
	}
	return ""
}

// systems lists the systems with their projects and shapes.
func (b *book) systems(w *strings.Builder) {
	for i := range b.list {
		sc := &b.list[i]
		if i > 0 && b.list[i-1].System() == sc.System() {
			continue
		}
		var shapes []string
		for j := range b.list {
			if other := &b.list[j]; other.System() == sc.System() {
				link := fmt.Sprintf("[%s](shapes/%s.md)", other.Entry.Shape, other.Entry.Shape)
				if !slices.Contains(shapes, link) {
					shapes = append(shapes, link)
				}
			}
		}
		fmt.Fprintf(w, "| [%s](%s) | %s | %s |\n", sc.System(), sc.Report, strings.Join(projectLinks(sc), ", "), strings.Join(shapes, ", "))
	}
}

// projectLinks links those projects that are repositories.
func projectLinks(sc *scenarios.Scenario) []string {
	var out []string
	for _, p := range sc.Entry.Projects {
		if strings.Contains(p, "/") {
			p = fmt.Sprintf("[%s](https://github.com/%s)", p, p)
		}
		out = append(out, p)
	}
	return out
}

// shape is the page of one shape.
func (b *book) shape(s *all.Shape) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s# %s\n\n%s\n\n", generated, s.Title, s.Is)
	var users []string
	for _, r := range b.of(s) {
		for _, p := range projectLinks(r.Scenario) {
			if !slices.Contains(users, p) {
				users = append(users, p)
			}
		}
	}
	fmt.Fprintf(&w, "Who has it, in one version or another: %s.\n\n", strings.Join(users, ", "))
	fmt.Fprintf(&w, "All rows again: `lockpick check --shape %s`.\n\n", s.ID)
	for _, h := range b.hazards() {
		b.hazardOf(&w, s, h)
	}
	w.WriteString("## What to copy instead\n\n")
	for _, v := range s.Fixed {
		b.fixed(&w, s, v)
	}
	w.WriteString("\n[All shapes](../README.md) · [Which lock should I use?](../which-lock.md)\n")
	return w.String()
}

// hazardOf writes the rows of a shape about one hazard.
func (b *book) hazardOf(w *strings.Builder, s *all.Shape, h scenarios.Hazard) {
	begun := false
	for _, r := range b.of(s) {
		if r.Scenario.Hazard() != h.ID {
			continue
		}
		if !begun {
			fmt.Fprintf(w, "## %s\n\n%s\n\n| row | what it does | setting | verdict | on other file systems | smallest schedule | odds |\n|---|---|---|---|---|---|---|\n", h.ID, h.Meaning)
			begun = true
		}
		sc := r.Scenario
		fmt.Fprintf(w, "| [%s](%s) | %s | %s | %s | %s | %s | %s |\n", sc.ID, sc.Report, cell(sc.Summary), sc.Setting.String(), verdict(r)+conditions(r), b.elsewhere(r), schedule(r), odds(r))
	}
	if begun {
		w.WriteString("\n")
	}
}

// elsewhere says what becomes of a verdict on each file system: "the same", or "✓ btrfs, tmpfs ✗ ext4".
func (b *book) elsewhere(r *checker.Result) string {
	var names [3][]string
	for _, on := range b.on[Row{r.Scenario.ID, r.Property.ID}] {
		names[on.Verdict] = append(names[on.Verdict], on.Name)
	}
	var parts []string
	for _, v := range []checker.Verdict{checker.Holds, checker.Broken, checker.Unknown} {
		switch {
		case len(names[v]) == 0:
		case v == checker.Unknown:
			parts = append(parts, "nobody gets in on "+strings.Join(names[v], ", "))
		default:
			parts = append(parts, sign(v)+" "+strings.Join(names[v], ", "))
		}
	}
	if len(parts) == 1 && len(names[r.Verdict]) > 0 {
		return "the same"
	}
	return strings.Join(parts, "; ")
}

// fixed writes a variant that holds, with the command that shows it.
func (b *book) fixed(w *strings.Builder, s *all.Shape, variant string) {
	var verdicts []string
	for _, r := range b.variant(variant) {
		text := fmt.Sprintf("%s (%s)", verdict(r), r.Scenario.Setting.String())
		if !slices.Contains(verdicts, text) {
			verdicts = append(verdicts, text)
		}
	}
	from := ""
	if home := b.shapeOf(variant); home.ID != s.ID {
		from = fmt.Sprintf(", a [%s](%s.md)", home.ID, home.ID)
	}
	fmt.Fprintf(w, "- `%s`%s: %s. `lockpick check %s`\n", variant, from, strings.Join(verdicts, ", "), variant)
}
