package reference

import (
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// whichLock is the decision table: for each hazard, what holds and what does not, with
// the command for each.
func (b *book) whichLock() string {
	var w strings.Builder
	w.WriteString(generated + "# Which lock should I use?\n\n")
	w.WriteString("A kernel lock on a file that nobody removes, unless something in this table speaks against it. " +
		"Find the hazards that your program can meet; a shape must hold under each. A verdict is one of its row and bounds; the command decides it again.\n\n")
	for _, h := range b.hazards() {
		fmt.Fprintf(&w, "## %s\n\n%s\n\n", h.ID, h.Meaning)
		w.WriteString("| | shape | row | decide it again |\n|---|---|---|---|\n")
		for _, want := range []checker.Verdict{checker.Holds, checker.Broken} {
			b.cells(&w, h, want)
		}
		w.WriteString("\n")
	}
	return w.String()
}

// cells writes the rows about a hazard that have one verdict, shape by shape.
func (b *book) cells(w *strings.Builder, h scenarios.Hazard, want checker.Verdict) {
	for i := range b.shapes {
		s := &b.shapes[i]
		for _, r := range b.of(s) {
			if r.Scenario.Hazard() == h.ID && r.Verdict == want {
				fmt.Fprintf(w, "| %s | [%s](shapes/%s.md) | %s | `%s` |\n", verdict(r), s.ID, s.ID, r.Scenario.ID, replay(r))
			}
		}
	}
}

// fixes is the page of the fixes that do not fix.
func (b *book) fixes() string {
	var w strings.Builder
	w.WriteString(generated + "# Fixes that do not fix\n\nWhat people write under a report, and the smallest schedule that refutes it.\n\n")
	for _, f := range all.Fixes() {
		r := b.first(f.Row)
		fmt.Fprintf(&w, "## “%s”\n\n%s\n\n", f.Says, f.Because)
		fmt.Fprintf(&w, "[%s](%s), %s: %s", r.Scenario.ID, r.Scenario.Report, r.Scenario.Setting.String(), verdict(r))
		if text := odds(r); text != "" {
			fmt.Fprintf(&w, ", hit by %s", text)
		}
		fmt.Fprintf(&w, ".\n\n    %s\n\n", replay(r))
		if r.Counterexample != nil {
			fmt.Fprintf(&w, "> %s\n\n", r.Counterexample.Cause)
		}
		home := b.shapeOf(f.Instead)
		fmt.Fprintf(&w, "Instead: `%s`, a [%s](shapes/%s.md).\n\n", f.Instead, home.ID, home.ID)
	}
	return w.String()
}

// corrections is the page of the reports and fixes that were wrong.
func (b *book) corrections() string {
	var w strings.Builder
	w.WriteString(generated + "# Where reports and fixes were wrong\n\nFollowed call by call. The schedules are the smallest.\n\n| system | said or done | what is so | rows |\n|---|---|---|---|\n")
	for _, c := range all.Corrections() {
		var rows []string
		for _, id := range c.Rows {
			r := b.first(id)
			rows = append(rows, strings.TrimSpace(fmt.Sprintf("[%s](%s) %s %s", id, r.Scenario.Report, verdict(r), schedule(r))))
		}
		fmt.Fprintf(&w, "| %s | %s | %s | %s |\n", c.System, c.Said, c.Found, strings.Join(rows, "<br>"))
	}
	return w.String()
}
