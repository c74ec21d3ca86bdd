package reference

import (
	"fmt"
	"slices"
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
		"Find the hazards that your program can meet: a lock must hold under each. A lock of fcntl(2) belongs to the " +
		"process: " +
		"it keeps no threads apart, and is gone when any descriptor of the file is closed.\n\n" +
		"All this is about Linux and its local file systems. NFS, SMB, macOS, Windows and object stores are not judged " +
		"here. " +
		"By their documentation, NFS emulates flock(2) by record locks of the whole file since Linux 2.6.12 (flock(2), " +
		"NFS details), " +
		"SMB makes both mandatory (flock(2), CIFS details), and object stores have neither.\n\n")
	b.matrix(&w)
	w.WriteString("## The cells\n\n")
	for i := range b.shapes {
		for _, v := range b.shapes[i].Surveyed {
			b.surveyed(&w, &b.shapes[i], b.survey(v))
		}
	}
	w.WriteString("## All rows, by hazard\n\nVerdicts of the rows of the corpus, each in its own situation, with the command that decides it again.\n\n")
	for _, h := range b.hazards() {
		fmt.Fprintf(&w, "### %s\n\n%s\n\n", h.ID, h.Meaning)
		w.WriteString("| | shape | row | decide it again |\n|---|---|---|---|\n")
		for _, want := range []checker.Verdict{checker.Holds, checker.Broken} {
			b.cells(&w, h, want)
		}
		w.WriteString("\n")
	}
	return w.String()
}

// matrix is the table of shapes and hazards, as the surveys of one variant of each say. Columns in which nothing was
// asked of any are left out.
func (b *book) matrix(w *strings.Builder) {
	w.WriteString("Each row is one protocol, as good as its shape gets, under every hazard that `lockpick survey` makes: " +
		"✓ mutual exclusion holds, nobody deadlocks, and a fresh process still gets in; ✗ one of these is broken; · not asked. " +
		"On each file system: = as in the columns for contention and dead owners; ✗ broken there although it is not " +
		"elsewhere.\n\n")
	names, rows := []string{""}, [][]string(nil)
	for _, h := range scenarios.Hazards() {
		names = append(names, heads(h)...)
	}
	for i := range b.shapes {
		s := &b.shapes[i]
		for _, v := range s.Surveyed {
			row := []string{fmt.Sprintf("[%s](shapes/%s.md)<br>[%s](#%s)", cell(s.Title), s.ID, v, anchor(v))}
			for _, l := range b.survey(v).Lines {
				row = append(row, surveySigns(&l)...)
			}
			rows = append(rows, row)
		}
	}
	asked := func(col int) bool {
		return col == 0 || slices.ContainsFunc(rows, func(row []string) bool { return row[col] != notAsked })
	}
	line := func(cells []string) {
		w.WriteString("|")
		for i, c := range cells {
			if asked(i) {
				w.WriteString(" " + c + " |")
			}
		}
		w.WriteString("\n")
	}
	rule := []string{"---"}
	for range names[1:] {
		rule = append(rule, ":-:")
	}
	line(names)
	line(rule)
	for _, row := range rows {
		line(row)
	}
	w.WriteString("\n")
}

// notAsked is the sign of a hazard that was not asked.
const notAsked = "·"

// anchor is what GitHub calls the heading of a variant.
func anchor(variant string) string { return strings.ReplaceAll(variant, "/", "") }

// heads are the columns of a hazard: one, or one for each file system.
func heads(h scenarios.Hazard) []string {
	if h.ID != scenarios.HazardFileSystem {
		return []string{h.ID}
	}
	var out []string
	for _, name := range scenarios.FileSystems() {
		out = append(out, "on "+name)
	}
	return out
}

// surveySigns are what a survey says of a hazard, column by column.
func surveySigns(l *checker.Surveyed) []string {
	if l.On == nil {
		return []string{surveySign(l)}
	}
	var out []string
	for _, name := range l.On {
		one := *l
		if broken := l.BrokenOn(name); one.NotAsked == "" {
			one.Broken = broken
		}
		sign := surveySign(&one)
		if sign == "✓" {
			sign = "="
		}
		out = append(out, sign)
	}
	return out
}

// surveySign is what a survey says of a hazard, as one character, and what is broken.
func surveySign(l *checker.Surveyed) string {
	switch l.Verdict() {
	case checker.Holds:
		return "✓"
	case checker.Broken:
		var out []string
		for i := range l.Broken {
			out = append(out, l.Broken[i].Property.ID)
		}
		return "✗ " + strings.Join(out, ", ")
	}
	if l.NotAsked != "" {
		return notAsked
	}
	return "?"
}

// surveyed writes the cells of one protocol, each with its command.
func (b *book) surveyed(w *strings.Builder, s *all.Shape, survey *Survey) {
	fmt.Fprintf(w, "### %s\n\nIt stands for [%s](shapes/%s.md). The whole row: `lockpick survey %s`.\n\n", survey.Variant, s.ID, s.ID, survey.Variant)
	w.WriteString("| hazard | | decide it again |\n|---|---|---|\n")
	for i := range survey.Lines {
		l := &survey.Lines[i]
		switch {
		case l.NotAsked != "":
			fmt.Fprintf(w, "| %s | · %s | |\n", l.Hazard.ID, l.NotAsked)
		case len(l.Broken) > 0:
			for j := range l.Broken {
				fmt.Fprintf(w, "| %s | %s: %s | `%s` |\n", l.Hazard.ID, verdict(&l.Broken[j]), cell(placed(&l.Broken[j]))+conditions(&l.Broken[j]), replay(&l.Broken[j]))
			}
		default:
			fmt.Fprintf(w, "| %s | %s | `lockpick survey %s --hazard %s` |\n", l.Hazard.ID, surveySign(l), survey.Variant, l.Hazard.ID)
		}
	}
	w.WriteString("\n")
}

// placed is what a result's scenario is about, and the file system that it is on.
func placed(r *checker.Result) string {
	if name := r.Scenario.FileSystem(); name != "" {
		return "On " + name + ". " + r.Scenario.Summary
	}
	return r.Scenario.Summary
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
	for _, f := range Fixes() {
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
	for _, c := range Corrections() {
		var rows []string
		for _, id := range c.Rows {
			r := b.first(id)
			rows = append(rows, strings.TrimSpace(fmt.Sprintf("[%s](%s) %s %s", id, r.Scenario.Report, verdict(r), schedule(r))))
		}
		fmt.Fprintf(&w, "| %s | %s | %s | %s |\n", c.System, c.Said, c.Found, strings.Join(rows, "<br>"))
	}
	return w.String()
}
