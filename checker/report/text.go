package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"lockpick/internal/lists"
)

// Visible is a text of somebody else's (a name, the contents of a file, a summary) as it
// can be shown on one line: what would move the cursor, change colours, hide text or turn
// it around is written as Go writes it in a string.
func Visible(text string) string {
	if strings.IndexFunc(text, invisible) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case invisible(r):
			quoted := fmt.Sprintf("%+q", string(r))
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
	return b.String()
}

// invisible reports a rune that is not shown as itself.
func invisible(r rune) bool { return !unicode.IsGraphic(r) }

// columns is how many columns of a terminal a text takes that is [Visible].
func columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

// runeColumns is how many columns one rune takes: none for a mark on the letter before it,
// two for the wide letters of East Asia and for pictures.
func runeColumns(r rune) int {
	const firstMark = 0x300
	switch {
	case r < firstMark:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// pad fills text up to n columns.
func pad(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-columns(text)))
}

// Clip shortens text to n columns.
func Clip(text string, n int) string {
	if columns(text) <= n {
		return text
	}
	at := 0
	for i, r := range text {
		if at += runeColumns(r); at > n-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// wrap breaks text into lines of at most n columns, at blanks. A longer word is a line of
// its own.
func wrap(text string, n int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		word = Visible(word)
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) > n:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// broken breaks text into lines of at most n columns, at blanks where it can; the lines
// after the first have indent columns less. No letter is lost but the blanks at the breaks.
func broken(text string, n, indent int) []string {
	var out []string
	for {
		w := n
		if len(out) > 0 {
			w -= indent
		}
		at := breakAt(text, max(w, 1))
		out = append(out, strings.TrimRight(text[:at], " "))
		if at == len(text) {
			return out
		}
		text = strings.TrimPrefix(text[at:], " ")
	}
}

// breakAt is where a line of at most n columns ends: at the last blank of its second half,
// or else after the last letter that fits, which is one at least.
func breakAt(text string, n int) int {
	at, blank, w := len(text), -1, 0
	for i, r := range text {
		if r == ' ' && 2*w > n {
			blank = i
		}
		if w += runeColumns(r); w > n && i > 0 {
			at = i
			break
		}
	}
	if at < len(text) && blank > 0 {
		return blank
	}
	return at
}

// A piece is a text that stays on one line, with its ink, or painted already.
type piece struct {
	ink     ink
	text    string
	painted string // the text with several inks, or empty
}

// pieceOf makes a piece in one ink.
func pieceOf(i ink, text string) piece { return piece{ink: i, text: text} }

// Lines breaks a message into lines that fit, indented after the first.
func (s Style) Lines(text string) []string {
	return s.flow(words(plain, text), " ", "  ", s.width())
}

// flow writes pieces one after the other, in lines of at most n columns; every line after
// the first is indented. A piece in one ink that no line has room for is broken at a blank.
func (s Style) flow(pieces []piece, between, indent string, n int) []string {
	var fitting []piece
	for _, p := range pieces {
		if p.painted != "" || columns(p.text) <= n-columns(indent) {
			fitting = append(fitting, p)
			continue
		}
		for _, text := range wrap(p.text, n-columns(indent)) {
			fitting = append(fitting, pieceOf(p.ink, text))
		}
	}
	var lines []string
	line, at := "", 0
	for i, p := range fitting {
		switch gap := columns(between); {
		case i == 0:
		case at+gap+columns(p.text) > n:
			lines = append(lines, line)
			line, at = indent, columns(indent)
		default:
			line, at = line+between, at+gap
		}
		if p.painted == "" {
			p.painted = s.paint(p.ink, p.text)
		}
		line, at = line+p.painted, at+columns(p.text)
	}
	return append(lines, line)
}

// words makes a piece of each word.
func words(i ink, text string) []piece {
	return lists.Map(strings.Fields(text), func(w string) piece { return pieceOf(i, Visible(w)) })
}
