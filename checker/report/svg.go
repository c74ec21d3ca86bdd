package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"lockpick/checker"
)

// SVG draws a counterexample as one picture for a slide: a column for each task, bars
// that show who believes to hold the lock, the watched files at the right, the step
// that goes wrong marked, and the cause below. It needs no fonts but a monospaced one,
// no scripts and no network, and is drawn on a light ground.
func SVG(w io.Writer, r *checker.Result, o Options) error {
	if r.Counterexample == nil {
		return fmt.Errorf("report: %s, %s: there is no counterexample to draw", r.Scenario.ID, r.Property)
	}
	c := NewChart(r.Scenario, r.Counterexample)
	c.Judge(r.Scenario, r.Counterexample)
	s := &svg{w: bufio.NewWriter(w), chart: c, r: r, o: o}
	s.l = layout{lanes: true, terse: len(c.Lanes) > 2}
	s.measure()
	s.draw()
	return s.w.Flush()
}

// Sizes in pixels of a picture that fills a slide of 1920 by 1080 or so. Text is placed
// by the advance of a monospaced font, which is about 0.6 of its size; 0.62 leaves room.
const (
	svgFont    = 22
	svgTitle   = 30
	svgAdvance = svgFont * 0.62
	svgRow     = 34
	svgMargin  = 40
	svgGap     = 36
	svgBar     = 10
	svgStep    = 90 // the mark and the number of a step
)

// The colours: text on white has a contrast of 4.5 to 1 and more.
const (
	svgText   = "#1f2328"
	svgDim    = "#59636e"
	svgBad    = "#b3261e"
	svgGood   = "#1a7f37"
	svgWarn   = "#8a5a00"
	svgStripe = "#f4f6f8"
)

// svgLanes distinguish processes, in the order of the inks of a terminal.
func svgLane(process int) string {
	return [...]string{"#0b6bcb", "#8b3ea8", "#8a5a00", "#0f6b6b", "#1a7f37", "#b3261e"}[process%6]
}

type svg struct {
	w     *bufio.Writer
	chart *Chart
	r     *checker.Result
	o     Options
	l     layout
	lanes []float64 // where each lane's bar begins
	files []float64
	width float64
	y     float64
}

func (s *svg) measure() {
	Drawing{Chart: s.chart}.measure(&s.l)
	x := float64(svgMargin + svgStep)
	for i := range s.chart.Lanes {
		s.lanes = append(s.lanes, x)
		x += 2*svgBar + float64(s.l.cells[i].all)*svgAdvance + svgGap
	}
	for k := range s.chart.Files {
		s.files = append(s.files, x)
		x += float64(s.l.files[k])*svgAdvance + svgGap
	}
	title := utf8.RuneCountInString(s.r.Scenario.ID + "  " + s.r.Property.ID + " " + s.r.Verdict.String())
	s.width = max(x-svgGap+svgMargin, 1200, 2*svgMargin+float64(title)*svgTitle*0.62)
}

// columns is how many characters fit on a line.
func (s *svg) columns() int { return int((s.width - 2*svgMargin) / svgAdvance) }

func (s *svg) draw() {
	sc := s.r.Scenario
	cause := wrap(s.r.Counterexample.Cause, s.columns())
	wrong := wrap(s.chart.Wrong, s.columns())
	facts := wrap(strings.Join((&timeline{r: s.r, o: s.o}).facts(), " · "), s.columns())
	lines := 0
	for i := range s.chart.Rows {
		lines += len(s.chart.Rows[i].Calls)
	}
	height := 2*svgMargin + 150 + svgRow*(1+len(facts)+lines+len(wrong)+len(cause))
	s.print(`<?xml version="1.0" encoding="UTF-8"?>`)
	s.print(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" font-family="'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace" font-size="%d" fill="%s">`,
		s.width, height, s.width, height, svgFont, svgText)
	s.print(`<title>%s</title>`, xmlEscape(headline(s.r)))
	s.print(`<desc>%s</desc>`, xmlEscape(s.r.Counterexample.Cause))
	s.print(`<rect width="100%%" height="100%%" fill="#ffffff"/>`)
	s.y = svgMargin + 30
	s.text(svgMargin, svgText, `font-size="30" font-weight="bold"`, sc.ID)
	s.text(svgMargin+float64(utf8.RuneCountInString(sc.ID)+2)*svgTitle*0.62, svgBad, `font-size="30" font-weight="bold"`, s.r.Property.ID+" "+s.r.Verdict.String())
	s.y += 38
	for _, l := range facts {
		s.text(svgMargin, svgDim, "", l)
		s.y += svgRow
	}
	s.y += 22
	s.heading()
	for i := range s.chart.Rows {
		s.row(&s.chart.Rows[i], i)
	}
	s.y += 24
	for _, l := range wrong {
		s.text(svgMargin, svgBad, `font-weight="bold"`, l)
		s.y += svgRow
	}
	s.y += 10
	for _, l := range cause {
		s.text(svgMargin, svgText, "", l)
		s.y += svgRow
	}
	s.print(`</svg>`)
}

// heading names the columns, and says what stood there at first.
func (s *svg) heading() {
	for i := range s.chart.Lanes {
		l := &s.chart.Lanes[i]
		s.text(s.lanes[i]+2*svgBar, svgLane(l.Task.Process), `font-weight="bold"`, laneTitle(l))
	}
	for k, name := range s.chart.Files {
		s.text(s.files[k], svgText, `font-weight="bold"`, name)
	}
	s.y += 12
	s.print(`<line x1="%d" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="2"/>`, svgMargin, s.y, s.width-svgMargin, s.y, svgDim)
	s.y += svgRow - 8
	s.cells(s.chart.First, true, 1)
	s.y += svgRow
}

// row draws one step, on as many lines as it has calls.
func (s *svg) row(r *Row, n int) {
	height := svgRow * len(r.Calls)
	top := s.y - svgRow + 10
	ground := ""
	switch {
	case r.Wrong:
		ground = "#fde7e5"
	case n%2 == 1:
		ground = svgStripe
	}
	if ground != "" {
		s.print(`<rect x="%d" y="%.0f" width="%.0f" height="%d" fill="%s"/>`, svgMargin-8, top, s.width-2*svgMargin+16, height, ground)
	}
	for i, h := range r.Holding {
		if h {
			color := svgGood
			if r.Clash {
				color = svgBad
			}
			s.print(`<rect x="%.0f" y="%.0f" width="%d" height="%d" fill="%s"/>`, s.lanes[i], top, svgBar, height, color)
		}
	}
	s.margin(r)
	for i, c := range r.Calls {
		s.call(r, c)
		if i == 0 {
			s.cells(r.Files, false, len(r.Calls))
		}
		s.y += svgRow
	}
}

func (s *svg) margin(r *Row) {
	mark, color := "", svgDim
	switch {
	case r.Wrong:
		mark, color = markWrong, svgBad
	case r.Preempts:
		mark, color = markPreempts, svgWarn
	case s.r.Counterexample.Cycle > 0 && r.N > len(s.chart.Rows)-s.r.Counterexample.Cycle:
		mark, color = markCycle, svgWarn
	}
	if mark != "" {
		s.text(svgMargin, color, `font-weight="bold"`, mark)
	}
	s.text(svgMargin+svgStep-svgGap/2, color, `text-anchor="end"`, fmt.Sprint(r.N))
}

func (s *svg) call(r *Row, c CallText) {
	x := s.lanes[max(0, r.Lane)] + 2*svgBar
	call, answer := s.l.text(c)
	color := svgText
	switch {
	case r.Fault:
		color = svgBad
	case c.Operation:
		color = svgDim
	}
	s.text(x, color, "", call)
	if answer != "" {
		color = svgDim
		if c.Failed {
			color = svgWarn
		}
		s.text(x+float64(utf8.RuneCountInString(call)+2)*svgAdvance, color, "", answer)
	}
}

// cells says what stands at the watched names: what has changed, and a line while it
// stays, as long as the step has lines.
func (s *svg) cells(cells []FileCell, all bool, lines int) {
	for k, c := range cells {
		switch {
		case all || c.Changed:
			color := svgText
			if !c.Exists {
				color = svgDim
			}
			s.text(s.files[k], color, "", c.Text)
		case c.Exists:
			s.print(`<line x1="%.0f" y1="%.0f" x2="%.0f" y2="%.0f" stroke="%s" stroke-width="2"/>`,
				s.files[k]+svgAdvance/2, s.y-svgRow+10, s.files[k]+svgAdvance/2, s.y+10+float64(svgRow*(lines-1)), "#c2c9d1")
		}
	}
}

func (s *svg) print(format string, args ...any) { _, _ = fmt.Fprintf(s.w, format+"\n", args...) }

func (s *svg) text(x float64, fill, attributes, text string) {
	if attributes != "" {
		attributes = " " + attributes
	}
	s.print(`<text x="%.0f" y="%.0f" fill="%s"%s xml:space="preserve">%s</text>`, x, s.y, fill, attributes, xmlEscape(text))
}

func xmlEscape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
