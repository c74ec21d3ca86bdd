package report

import "strings"

// A line is text under construction: a row of columns, each with its ink, written in
// any order. Colours come in at the end, when widths no longer matter.
type line struct {
	text []rune
	inks []ink
}

// put writes text from column at on.
func (l *line) put(at int, i ink, text string) *line {
	for _, r := range text {
		for len(l.text) <= at {
			l.text, l.inks = append(l.text, ' '), append(l.inks, plain)
		}
		l.text[at], l.inks[at] = r, i
		at++
	}
	return l
}

// add writes text at the end.
func (l *line) add(i ink, text string) *line { return l.put(len(l.text), i, text) }

// render returns the line, at most n columns of it, without blanks at its end.
func (l *line) render(s Style, n int) string {
	if len(l.text) > n {
		l.text = append(l.text[:n-1], '…')
	}
	end := len(l.text)
	for end > 0 && l.text[end-1] == ' ' {
		end--
	}
	var b strings.Builder
	for from := 0; from < end; {
		to := from + 1
		for to < end && l.inks[to] == l.inks[from] {
			to++
		}
		b.WriteString(s.paint(l.inks[from], string(l.text[from:to])))
		from = to
	}
	return b.String()
}
