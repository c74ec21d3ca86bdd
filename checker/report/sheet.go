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
