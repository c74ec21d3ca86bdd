package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// A sheet is what a report for a person is written on, line by line.
type sheet struct {
	w *bufio.Writer
	o Options
	// written: something has been written already.
	written bool
}

func newSheet(w io.Writer, o Options) sheet { return sheet{w: bufio.NewWriter(w), o: o} }

// line writes a line, without blanks at its end.
func (s *sheet) line(text string) {
	_, _ = fmt.Fprintln(s.w, strings.TrimRight(text, " "))
	s.written = true
}

// lines writes lines in one ink, indented by so many columns.
func (s *sheet) lines(indent int, i ink, lines []string) {
	for _, l := range lines {
		s.line(strings.Repeat(" ", indent) + s.o.paint(i, l))
	}
}

// flow writes pieces one after the other, in lines that fit; see [Style.flow].
func (s *sheet) flow(pieces []piece, between, indent string) {
	s.lines(0, plain, s.o.flow(pieces, between, indent, s.o.width()))
}

// tell writes a text with a label before its first line.
func (s *sheet) tell(label, text string) { s.lines(0, plain, s.o.Tell(label, text)) }

// command writes a command with a label. It stays on one line: it is there to be copied.
func (s *sheet) command(label, text string) {
	s.line("  " + s.o.paint(accent, pad(label, labelWidth)) + text)
}

// A line is text under construction: a row of columns, each with its ink, written in
// any order. Colours come in at the end, when widths no longer matter.
type line struct {
	// text is what stands in each column. A wide letter leaves the column after it empty,
	// a mark is with its letter.
	text []string
	inks []ink
	row  *Row // that it belongs to; nil for none
}

// put writes text from column at on.
func (l *line) put(at int, i ink, text string) *line {
	for _, r := range text {
		n := runeColumns(r)
		if n == 0 && at > 0 && at <= len(l.text) {
			l.text[at-1] += string(r)
			continue
		}
		for len(l.text) < at+n {
			l.text, l.inks = append(l.text, " "), append(l.inks, plain)
		}
		if n > 0 && at > 0 && l.text[at] == "" { // the other half of a wide letter goes
			l.text[at-1] = " "
		}
		if at+n < len(l.text) && n > 0 && l.text[at+n] == "" {
			l.text[at+n] = " "
		}
		for k := range n {
			l.text[at+k], l.inks[at+k] = "", i
		}
		if n > 0 {
			l.text[at] = string(r)
		}
		at += n
	}
	return l
}

// add writes text at the end.
func (l *line) add(i ink, text string) *line { return l.put(len(l.text), i, text) }

// render returns the line, at most n columns of it, without blanks at its end.
func (l *line) render(s Style, n int) string {
	if len(l.text) > n {
		if l.text = l.text[:n-1]; l.text[n-2] != "" && columns(l.text[n-2]) == 2 {
			l.text[n-2] = " " // half of a wide letter
		}
		l.text = append(l.text, "…")
	}
	end := len(l.text)
	for end > 0 && l.text[end-1] == " " {
		end--
	}
	var b strings.Builder
	for from := 0; from < end; {
		to := from + 1
		for to < end && l.inks[to] == l.inks[from] {
			to++
		}
		b.WriteString(s.paint(l.inks[from], strings.Join(l.text[from:to], "")))
		from = to
	}
	return b.String()
}
