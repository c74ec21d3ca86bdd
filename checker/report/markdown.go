package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"lockpick/checker"
	"lockpick/internal/numbers"
)

// Markdown writes one result as a section for an issue or a pull request: the verdict,
// the cause, the timeline in a fenced block, and the command that shows it again. Folded below stand the same as a
// Mermaid sequence diagram and, where o has one, the file that replays it elsewhere.
//
// The timeline is a block of text and not a table, because columns of calls and marks
// keep their alignment there on a screen of any width.
func Markdown(w io.Writer, r *checker.Result, o Options) error {
	m := &markdown{w: bufio.NewWriter(w), o: o}
	if err := m.section(r); err != nil {
		return err
	}
	return m.w.Flush()
}

// markdownLimit is how many characters GitHub takes in one text.
const markdownLimit = 65_536

// MarkdownAll writes many results: a table of the verdicts, and below it a section for
// each counterexample. Those of verdicts that are as claimed are folded; when the text
// would be longer than GitHub takes, they lose their diagrams, and then go altogether.
func MarkdownAll(w io.Writer, results []checker.Result, o Options) error {
	var text strings.Builder
	for d := diagrams; d >= nothing; d-- {
		text.Reset()
		if err := markdownAll(&text, results, o, d); err != nil {
			return err
		}
		if utf8.RuneCountInString(text.String()) <= markdownLimit {
			break
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// What there is to see of a counterexample that is as claimed.
const (
	nothing = iota
	timelines
	diagrams
)

func markdownAll(w io.Writer, results []checker.Result, o Options, folded int) error {
	m := &markdown{w: bufio.NewWriter(w), o: o}
	m.line("## lockpick: %s", tally(results))
	m.line("")
	m.table(results)
	for i := range results {
		r := &results[i]
		fold := outcomeOf(r) == passed
		if r.Counterexample == nil || fold && folded == nothing {
			continue
		}
		m.line("")
		if fold {
			m.line("<details><summary>%s</summary>", markdownText(headline(r)))
			m.line("")
		}
		m.short = fold && folded < diagrams
		if err := m.section(r); err != nil {
			return err
		}
		if fold {
			m.line("")
			m.line("</details>")
		}
	}
	if folded == nothing {
		m.line("")
		m.line("Counterexamples of what is as claimed are left out, to fit into one text: `lockpick explain` shows them.")
	}
	return m.w.Flush()
}

type markdown struct {
	w *bufio.Writer
	o Options
	// short: sections have no diagrams.
	short bool
}

func (m *markdown) line(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, format+"\n", args...)
}

// native says what came of running commands natively, if anybody has.
func (m *markdown) native(r *checker.Result) {
	if r.Native != "" {
		m.line("")
		m.line("**Native:** %s", markdownText(r.Native))
		m.line("")
	}
}

// section is everything about one result.
func (m *markdown) section(r *checker.Result) error {
	m.line("### %s", markdownText(headline(r)))
	m.line("")
	if r.Scenario.Summary != "" {
		m.line("%s", markdownText(r.Scenario.Summary))
		m.line("")
	}
	if r.Scenario.Report != "" {
		m.line("Reported: <%s>", r.Scenario.Report)
		m.line("")
	}
	c := r.Counterexample
	if c == nil {
		m.line("%s", markdownText(sentence(detail(r, m.o))))
		m.native(r)
		return nil
	}
	if c.Cause != "" {
		m.line("**Cause:** %s", markdownText(c.Cause))
		m.line("")
	}
	if text := fix(r); text != "" {
		m.line("**Fix:** %s", markdownText(text))
		m.line("")
	}
	m.fence("text", plainDrawing(r, m.o))
	m.line("")
	m.line("%s.", markdownText(strings.Join((&timeline{r: r, o: m.o}).facts(), " · ")))
	m.line("")
	m.outcomes(c)
	if c.Kernel != "" {
		m.line("**Kernel:** %s", markdownText(c.Kernel))
		m.line("")
	}
	m.native(r)
	m.line("To see it again:")
	m.line("")
	m.fence("sh", ReplayCommand(r, m.o))
	if !m.short {
		var d strings.Builder
		if err := Mermaid(&d, r, m.o); err != nil {
			return err
		}
		m.details("The same as a diagram", "mermaid", d.String())
	}
	if m.o.Bundle != nil {
		text, err := m.o.Bundle(r)
		if err != nil {
			return err
		}
		m.details("The programs, their files and the schedule: save this as race.lockpick, then lockpick replay "+
			"race.lockpick",
			"text", string(text))
	}
	return nil
}

// details is a fenced text that is shown when somebody asks for it.
func (m *markdown) details(summary, language, text string) {
	m.line("")
	m.line("<details><summary>%s</summary>", summary)
	m.line("")
	m.fence(language, strings.TrimRight(text, "\n"))
	m.line("")
	m.line("</details>")
}

// fence writes a block of code. Its fence is longer than any in the text.
func (m *markdown) fence(language, text string) {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	m.line("%s%s\n%s\n%s", mark, language, text, mark)
}

// table has a row for each verdict.
func (m *markdown) table(results []checker.Result) {
	m.line("| scenario | property | verdict | claim | bounds |")
	m.line("| --- | --- | --- | --- | --- |")
	for i := range results {
		r := &results[i]
		claim := "—"
		if r.Claimed {
			claim = r.ClaimText()
		}
		verdict := glyph(r.Verdict) + " " + r.Verdict.String()
		if outcomeOf(r) != passed {
			verdict = "**" + verdict + "**"
		}
		m.line("| %s | %s | %s | %s | %s |", markdownText(r.Scenario.ID), r.Property, verdict, claim, r.Scenario.Setting.String())
	}
}

// tally counts verdicts: "12 verdicts, all as claimed".
func tally(results []checker.Result) string {
	var differ, open int
	for i := range results {
		switch outcomeOf(&results[i]) {
		case failed:
			differ++
		case undecided:
			open++
		}
	}
	parts := []string{numbers.Count(len(results), "verdict", "verdicts")}
	if differ > 0 {
		parts = append(parts, fmt.Sprintf("%d not as claimed", differ))
	}
	if open > 0 {
		parts = append(parts, fmt.Sprintf("%d undecided", open))
	}
	if len(parts) == 1 && len(results) > 0 {
		parts = append(parts, "all as claimed")
	}
	return strings.Join(parts, ", ")
}

// sentence begins with a capital and ends with a full stop.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + strings.TrimRight(s[1:], ".") + "."
}

// markdownText escapes what Markdown, or HTML in it, would take for markup, and what a
// terminal that the file is shown on would obey.
func markdownText(s string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
		"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "#", "\\#", "~", "\\~", "@", "&#64;",
	).Replace(Visible(strings.ReplaceAll(s, "\n", " ")))
}
