package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"

	"lockpick/checker"
)

// SVG draws a counterexample as one picture for a slide, of 16 to 9: the timeline with bars that show
// who believes to hold the lock, the watched files at the right, the step that goes wrong
// marked, what the marks mean, and the cause. Of the widths that it can be drawn in, it has the one whose
// text is largest on the slide. It needs no fonts but a monospaced one, no
// scripts and no network, and is drawn on a light ground.
func SVG(w io.Writer, r *checker.Result, o Options) error {
	if r.Counterexample == nil {
		return fmt.Errorf("report: %s, %s: there is no counterexample to draw", r.Scenario.ID, r.Property)
	}
	best := svgOf(r, o, svgWidest)
	for columns := svgWidest - svgStep; columns >= svgNarrowest; columns -= svgStep {
		if s := svgOf(r, o, columns); s.unit < best.unit {
			best = s
		}
	}
	best.w = bufio.NewWriter(w)
	best.draw()
	return best.w.Flush()
}

// Sizes in pixels of a picture that fills a slide of 1920 by 1080 or so. Text is placed
// by the advance of a monospaced font, which is 0.602 of its size, and fitted to it.
const (
	svgWidest    = 116
	svgNarrowest = 68
	svgStep      = 4
	svgFont      = 22
	svgTitle     = 30
	svgAdvance   = svgFont * 0.602
	svgRow       = 30
	svgMargin    = 30
	svgLeast     = 960
)

// The colours: text on white has a contrast of 4.5 to 1 and more.
const (
	svgText   = "#1f2328"
	svgDim    = "#59636e"
	svgBad    = "#b3261e"
	svgGood   = "#1a7f37"
	svgWarn   = "#8a5a00"
	svgAccent = "#0b6bcb"
	svgStripe = "#f4f6f8"
	svgAlarm  = "#fde7e5"
	svgLine   = "#c2c9d1"
)

// svgInk is the colour of an ink, and whether it is bold.
func svgInk(i ink) (string, bool) {
	color, strong := strings.TrimSuffix(string(i), ";1"), strings.HasSuffix(string(i), ";1")
	switch ink(color) {
	case bold:
		return svgText, true
	case dim:
		return svgDim, strong
	case bad:
		return svgBad, true
	case plain:
		return svgText, strong
	}
	for k, lane := range laneInks {
		if string(lane) == color {
			return [...]string{svgAccent, "#8b3ea8", svgWarn, "#0f6b6b", svgGood, svgBad}[k], strong
		}
	}
	return svgText, strong
}

type svg struct {
	w     *bufio.Writer
	r     *checker.Result
	o     Options
	lines []*line
	unit  int // it is 16 of these wide, and 9 high
	y     float64
}

// svgOf makes the lines of a picture of so many columns below its title, and measures it.
func svgOf(r *checker.Result, o Options, width int) *svg {
	s := &svg{r: r, o: o}
	s.o.Width = width
	for _, text := range JoinWrapped(Facts(r), width) {
		s.lines = append(s.lines, (&line{}).add(dim, text))
	}
	s.lines = append(s.lines, &line{})
	drawingOf(r).paint(s.o.Style, func(l *line, _ *Row) { s.lines = append(s.lines, l) })
	for _, text := range wrap(r.Counterexample.Cause, width) {
		s.lines = append(s.lines, (&line{}).put(0, plain, text))
	}
	wide := max(svgLeast, 2*svgMargin+float64(columns(s.title()))*svgTitle*0.62)
	for _, l := range s.lines {
		wide = max(wide, 2*svgMargin+float64(len(l.text))*svgAdvance)
	}
	high := float64(2*svgMargin + 60 + svgRow*len(s.lines))
	s.unit = int(math.Ceil(max(wide/16, high/9)))
	return s
}

// title is the first line; the verdict is the part that stands out.
func (s *svg) title() string {
	return s.r.Scenario.ID + "  " + s.r.Property.ID + " " + s.r.Verdict.String()
}

func (s *svg) draw() {
	width, height := float64(16*s.unit), 9*s.unit
	s.print(`<?xml version="1.0" encoding="UTF-8"?>`)
	s.print(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" `+
		`font-family="'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace" font-size="%d" fill="%s">`,
		width, height, width, height, svgFont, svgText)
	s.print(`<title>%s</title>`, xmlEscape(headline(s.r)))
	s.print(`<desc>%s</desc>`, xmlEscape(s.r.Counterexample.Cause))
	s.print(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	s.y = svgMargin + 30
	s.text(svgMargin, svgText, fmt.Sprintf(`font-size="%d" font-weight="bold"`, svgTitle), s.r.Scenario.ID)
	s.text(svgMargin+float64(columns(s.r.Scenario.ID)+2)*svgTitle*0.62, svgBad,
		fmt.Sprintf(`font-size="%d" font-weight="bold"`, svgTitle), s.r.Property.ID+" "+s.r.Verdict.String())
	s.y += 44
	for _, l := range s.lines {
		s.ground(l, width)
		s.line(l)
		s.y += svgRow
	}
	s.print(`</svg>`)
}

// ground colours the lines of a row: those of the wrong one, and every second.
func (s *svg) ground(l *line, width float64) {
	color := ""
	switch {
	case l.row == nil:
	case l.row.Wrong:
		color = svgAlarm
	case l.row.N%2 == 0:
		color = svgStripe
	}
	if color != "" {
		s.print(`<rect x="%d" y="%.0f" width="%.0f" height="%d" fill="%s"/>`, svgMargin-8, s.top(),
			width-2*svgMargin+16, svgRow, color)
	}
}

// top is where the line begins whose text stands at y.
func (s *svg) top() float64 { return s.y - svgRow + 9 }

// line draws a line: its marks, and each piece of text of one colour.
func (s *svg) line(l *line) {
	for from := 0; from < len(l.text); {
		if l.text[from] == " " {
			from++
			continue
		}
		to := from + 1
		for to < len(l.text) && l.inks[to] == l.inks[from] && !isBar(l.text[to]) && !isBar(l.text[from]) &&
			!gap(l.text, to) {
			to++
		}
		color, strong := svgInk(l.inks[from])
		x := svgMargin + float64(from)*svgAdvance
		switch text := strings.TrimRight(strings.Join(l.text[from:to], ""), " "); {
		case text == markHolds:
			s.print(`<rect x="%.1f" y="%.0f" width="%.0f" height="%d" fill="%s"/>`,
				x+2, s.top(), svgAdvance-4, svgRow, color)
		case text == markSame:
			s.print(`<line x1="%.1f" y1="%.0f" x2="%.1f" y2="%.0f" stroke="%s" stroke-width="2"/>`,
				x+svgAdvance/2, s.top(), x+svgAdvance/2, s.top()+svgRow, svgLine)
		default:
			attributes := fmt.Sprintf(`textLength="%.1f"`, float64(columns(text))*svgAdvance)
			if strong {
				attributes += ` font-weight="bold"`
			}
			s.text(x, color, attributes, text)
		}
		from = to
	}
}

// isBar reports whether a sign is drawn, and not written.
func isBar(r string) bool { return r == markHolds || r == markSame }

// gap reports whether text comes back after two blanks: what follows is a piece of its own.
func gap(text []string, at int) bool {
	return at > 1 && text[at] != " " && text[at-1] == " " && text[at-2] == " "
}

func (s *svg) print(format string, args ...any) { _, _ = fmt.Fprintf(s.w, format+"\n", args...) }

func (s *svg) text(x float64, fill, attributes, text string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	s.print(`<text x="%.1f" y="%.0f" fill="%s"%s xml:space="preserve">%s</text>`,
		x, s.y, fill, attributes, xmlEscape(text))
}

func xmlEscape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
