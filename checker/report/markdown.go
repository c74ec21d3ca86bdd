package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"lockpick/checker"
	"lockpick/internal/numbers"
)

// markdownLimit is how many characters GitHub takes in one text.
const markdownLimit = 65_536

// Markdown writes results for an issue or a pull request. Of one result it writes a section: at most [issueLines] lines
// say what it is about, the cause, the short story, what is left beside what serial orders leave, what the kernel said,
// the fix, and one command that shows it again. Folded below stand all steps and, where o has one, the file that
// replays it elsewhere. Of many it writes a section for each counterexample of a verdict that is not as claimed, and
// below them a table of all verdicts and the other counterexamples, folded. When the text would be longer than GitHub
// takes, these go altogether; in the end the sections lose what is folded in them.
func Markdown(w io.Writer, results []checker.Result, o Options) error {
	var text strings.Builder
	for _, how := range []much{{passed: true, folded: true}, {folded: true}, {}} {
		text.Reset()
		m := &markdown{w: bufio.NewWriter(&text), o: o, much: how}
		if err := m.all(results); err != nil {
			return err
		}
		if err := m.w.Flush(); err != nil {
			return err
		}
		if utf8.RuneCountInString(text.String()) <= markdownLimit {
			break
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// much is how much there is to see.
type much struct {
	passed bool // counterexamples of what is as claimed
	folded bool // what is folded in a section
}

func (m *markdown) all(results []checker.Result) error {
	external := slices.ContainsFunc(results, func(r checker.Result) bool { return r.Scenario.OfCommands() })
	table := len(results) != 1 && !external
	if table {
		m.line("## lockpick: %s", tally(results))
		m.line("")
	}
	sections, err := m.sections(results, func(r *checker.Result) bool {
		return outcomeOf(r) != passed && r.Counterexample != nil || len(results) == 1
	})
	if err != nil {
		return err
	}
	switch {
	case table && sections > 0:
		m.line("<details><summary>All verdicts</summary>")
		m.line("")
		m.table(results)
		m.line("")
		m.line("</details>")
	case table:
		m.table(results)
	case len(results) > 1:
		for i := range results {
			if r := &results[i]; outcomeOf(r) == passed || r.Counterexample == nil {
				m.line("- %s. %s %s", markdownText(m.title(r)), m.detail(r), strings.Join(m.witness(r), ""))
			}
		}
	}
	if m.much.passed && table {
		_, err = m.sections(results, func(r *checker.Result) bool {
			return outcomeOf(r) == passed && r.Counterexample != nil
		})
	}
	if !m.much.passed {
		m.line("")
		m.line("Counterexamples of what is as claimed are left out, to fit into one text: `lockpick explain` shows them.")
	}
	return err
}

// sections writes those results that are asked for, and counts them. What is as claimed is folded.
func (m *markdown) sections(results []checker.Result, asked func(*checker.Result) bool) (n int, err error) {
	for i := range results {
		r := &results[i]
		if !asked(r) {
			continue
		}
		n++
		fold := outcomeOf(r) == passed && len(results) > 1
		if fold {
			m.line("")
			m.line("<details><summary>%s</summary>", markdownText(headline(r)))
			m.line("")
		}
		if err := m.section(r); err != nil {
			return n, err
		}
		if fold {
			m.line("")
			m.line("</details>")
		}
		m.line("")
	}
	return n, nil
}

type markdown struct {
	w    *bufio.Writer
	o    Options
	much much
}

func (m *markdown) line(format string, args ...any) {
	_, _ = fmt.Fprintf(m.w, format+"\n", args...)
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
	mark := codeMark(text, "```")
	m.line("%s%s\n%s\n%s", mark, language, text, mark)
}

// codeMark is what stands before and behind a text as code: longer than any such mark in it.
func codeMark(text, mark string) string {
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark
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
		verdict := Glyph(r.Verdict) + " " + r.Verdict.String()
		if outcomeOf(r) != passed {
			verdict = "**" + verdict + "**"
		}
		m.line("| %s | %s | %s | %s | %s |", markdownText(r.Scenario.ID), r.Property, verdict, claim, r.Scenario.Setting.String())
	}
}

// tally counts verdicts: "12 verdicts, all as claimed".
func tally(results []checker.Result) string {
	var differ, open, accepted int
	for i := range results {
		if results[i].Accepted != "" {
			accepted++
		}
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
	if accepted > 0 {
		parts = append(parts, fmt.Sprintf("%d accepted", accepted))
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

// markdownProse is a text of our own, in which code stands between backticks.
func markdownProse(s string) string {
	parts := strings.Split(s, "`")
	for i := range parts {
		if i%2 == 0 {
			parts[i] = markdownText(parts[i])
		}
	}
	return strings.Join(parts, "`")
}

// markdownText escapes what Markdown, or HTML in it, would take for markup, and what a
// terminal that the file is shown on would obey.
func markdownText(s string) string {
	return strings.NewReplacer(
		"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]",
		"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", "\\|", "#", "\\#", "~", "\\~", "@", "&#64;",
	).Replace(Visible(strings.ReplaceAll(s, "\n", " ")))
}
