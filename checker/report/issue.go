package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// An issue is read by people who have neither the programs nor the time: what they need stands in a few lines, and what
// they may need is folded.

const (
	// issueLines is how many lines of a section are shown before anybody unfolds anything, blank ones not counted.
	issueLines = 15
	// issueRows is how many rows of the table of ends are among them.
	issueRows = 3
	// issueStory is how many steps are among them at least.
	issueStory = 3
	// issueUnfolded is how many steps are all written down where a section is unfolded; of more only the short story.
	issueUnfolded = 200
)

// section is everything about one result.
func (m *markdown) section(r *checker.Result) error {
	above := []string{"### " + markdownText(m.title(r))}
	if q := r.Question; q != nil {
		ask, answers := q.Lines()[0], q.Lines()[1:]
		above = append(above, strings.TrimSpace(markdownText(ask+" "+strings.Join(answers, "; "))))
	}
	if r.Counterexample == nil {
		if r.Scenario.Summary != "" && !r.Scenario.OfCommands() {
			above = append(above, markdownText(r.Scenario.Summary))
		}
		above = append(above, m.detail(r))
		m.paragraphs(append(above, m.witness(r)...))
		return nil
	}
	if cause := r.Counterexample.Cause; cause != "" {
		above = append(above, "**Cause:** "+markdownText(cause))
	}
	table := m.outcomes(r.Counterexample, issueRows)
	below := m.below(r)
	m.paragraphs(above)
	m.line("")
	m.story(r, max(issueStory, issueLines-len(above)-len(table)-len(below)))
	if len(table) > 0 {
		m.line("")
		m.line("%s", strings.Join(table, "\n"))
	}
	m.line("")
	m.paragraphs(below)
	if !m.much.folded {
		return nil
	}
	return m.unfolded(r)
}

// title is the headline; programs are named by their commands.
func (m *markdown) title(r *checker.Result) string {
	text := headline(r)
	if r.Question.Open() {
		text = fmt.Sprintf("%s: it depends whether %s holds", Visible(r.Scenario.ID), r.Property)
	}
	if r.Scenario.OfCommands() && r.Scenario.Summary != "" {
		text = Clip(Visible(r.Scenario.Summary), 100) + strings.TrimPrefix(text, Visible(r.Scenario.ID))
	}
	return text
}

// detail is what there is to say of a result without a counterexample.
func (m *markdown) detail(r *checker.Result) string {
	return markdownText(sentence(strings.ReplaceAll(detail(r, m.o), "\n", "; ")))
}

// paragraphs writes lines as paragraphs of their own.
func (m *markdown) paragraphs(lines []string) { m.line("%s", strings.Join(lines, "\n\n")) }

// below is what follows the story: what the kernel said, what is to be done, and how to see it again.
func (m *markdown) below(r *checker.Result) (lines []string) {
	lines = m.witness(r)
	if text := r.AcceptedText(); text != "" {
		lines = append(lines, "**Accepted:** "+markdownText(text)+".")
	}
	if text := fix(r); text != "" {
		lines = append(lines, "**Fix:** "+markdownProse(text))
	}
	if depends := depends(r); len(depends) > 0 {
		lines = append(lines, "**Depends:** "+markdownText(strings.Join(depends, "; ")))
	}
	if m.o.Bundle != nil && m.much.folded {
		return append(lines, "To see it again, save the last text below as race.lockpick: `lockpick replay race.lockpick`")
	}
	command := ReplayCommand(r, m.o)
	mark := codeMark(command, "`")
	return append(lines, "To see it again: "+mark+command+mark)
}

// witness is what the kernel said, and which shorter stalls do, in a line, if anybody has asked.
func (m *markdown) witness(r *checker.Result) []string {
	var parts []string
	if c := r.Counterexample; c != nil && len(c.Stderr) > 0 {
		parts = append(parts, "**Standard error:** "+markdownText(strings.Join(c.Stderr, "; "))+".")
	}
	if c := r.Counterexample; c != nil && c.Kernel != "" {
		parts = append(parts, "**Kernel:** "+markdownText(c.Kernel)+".")
	}
	if r.Native != "" {
		parts = append(parts, "**Native:** "+markdownText(r.Native)+".")
	}
	if r.Survives != "" {
		parts = append(parts, "**Stalls:** "+markdownText(r.Survives)+".")
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, " ")}
}

// story lists the steps that tell most, n at most, one a line.
func (m *markdown) story(r *checker.Result, n int) {
	c := NewChart(r.Scenario, r.Counterexample)
	cycle := r.Counterexample.Cycle
	if c.Programs {
		c = c.foldedOwn(cycle)
	}
	c = c.short(cycle, n)
	for i := range c.Rows {
		row := &c.Rows[i]
		var parts []string
		if row.Lane >= 0 {
			parts = append(parts, "**"+markdownText(c.Lanes[row.Lane].Name)+"**")
		}
		parts = append(parts, markdownText(Clip(row.text(), 100)))
		for k, f := range row.Files {
			if f.Changed {
				parts = append(parts, markdownText(fmt.Sprintf("→ %s is %s", c.Files[k], Clip(f.Text, 60))))
			}
		}
		if at := m.o.place(sourceOf(&r.Counterexample.Trace[row.N-1])); at != "" && c.Programs {
			parts = append(parts, "("+markdownText(at)+")")
		}
		if row.Wrong {
			parts = append(parts, markdownText(markWrong+" "+c.Wrong))
		}
		m.line("- %d %s", row.N, strings.Join(parts, " "))
	}
}

// unfolded writes what one may want to know beside: all steps, the whole table, and the programs.
func (m *markdown) unfolded(r *checker.Result) error {
	o := m.o
	o.Unfold = o.Unfold || len(r.Counterexample.Trace) <= issueUnfolded
	all := Facts(r)
	if text := kindText(r); text != "" {
		all = append(all, text)
	}
	all = slices.Concat(all, alsoTexts(r))
	m.line("")
	m.line("<details><summary>All steps</summary>")
	m.line("")
	if r.Scenario.Summary != "" {
		summary := sentence(r.Scenario.Summary)
		if r.Scenario.OfCommands() { // the commands as they are written
			summary = r.Scenario.Summary
		}
		m.line("%s", markdownText(summary))
		m.line("")
	}
	m.line("%s.", markdownText(strings.Join(all, " · ")))
	if r.Scenario.Report != "" {
		m.line("Reported: <%s>", r.Scenario.Report)
	}
	if texts := scenarios.Texts(assumed(r)); len(texts) > 0 {
		m.line("Assumed: %s.", markdownText(strings.Join(texts, "; ")))
	}
	m.line("")
	m.fence("text", plainDrawing(r, o))
	if rows := m.outcomes(r.Counterexample, math.MaxInt-1); len(rows) > issueRows+2 {
		m.line("")
		m.line("%s", strings.Join(rows, "\n"))
	}
	m.line("")
	m.line("</details>")
	if m.o.Bundle == nil {
		return nil
	}
	text, err := m.o.Bundle(r)
	if err == nil {
		m.details("The programs, their files and the schedule: save this as race.lockpick", "text", string(text))
	}
	return err
}

// assumed is what the verdict takes for granted, with what only the search has shown.
func assumed(r *checker.Result) []scenarios.Premise {
	if r.Scenario.Assumed == nil {
		return r.Scenario.Assumes
	}
	return slices.Concat(r.Scenario.Assumes, r.Scenario.Assumed())
}

// outcomes is the table of ends in Markdown, with so many rows below its heading at most.
func (m *markdown) outcomes(cx *trace.Counterexample, most int) (lines []string) {
	rows := TableOf(cx)
	for i, row := range rows {
		if i == most && len(rows) > most+1 {
			return append(lines, fmt.Sprintf("| … %d more |%s", len(rows)-i, strings.Repeat(" |", len(row)-1)))
		}
		cells := make([]string, len(row))
		for k := range row {
			cells[k] = markdownText(Clip(row[k], widestCell))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat("---|", len(row)))
		}
	}
	return lines
}
