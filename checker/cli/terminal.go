package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/term"

	"lockpick/checker"
	"lockpick/checker/report"
)

// style is how output to w looks: colour only on a terminal and unless NO_COLOR is
// set, as wide as the terminal is, up to 100 columns.
func (a *app) style(w io.Writer, width int) report.Style {
	s := report.Style{Width: width}
	f, ok := w.(*os.File)
	tty := ok && term.IsTerminal(int(f.Fd()))
	s.Color = tty && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"
	if a.env("CLICOLOR_FORCE") != "" && a.env("NO_COLOR") == "" {
		s.Color = true
	}
	if width != 0 {
		return s
	}
	if n, err := strconv.Atoi(a.env("COLUMNS")); err == nil && n > 0 {
		s.Width = min(n, widest)
	}
	if tty {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			s.Width = min(n, widest)
		}
	}
	return s
}

// widest is the most columns that are used unasked: longer lines are hard to read.
const widest = 120

// A progress shows on one line of a terminal what is going on.
type progress struct {
	w     io.Writer // nil for none
	done  int
	total int
	last  time.Time
}

func (a *app) newProgress(total int, quiet bool) *progress {
	p := &progress{total: total}
	if f, ok := a.stderr.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) && a.env("TERM") != "dumb" {
		p.w = a.stderr
	}
	return p
}

// begin says that the next verdict is under way.
func (p *progress) begin(id, property string) {
	p.done++
	p.line(fmt.Sprintf("%s %s", id, property))
}

// follow shows how far a search has come.
func (p *progress) follow(g checker.Progress) {
	if time.Since(p.last) >= 100*time.Millisecond {
		p.line(fmt.Sprintf("%s %s: %d states, depth %d", g.Scenario, g.Property, g.States, g.Depth))
	}
}

func (p *progress) line(text string) {
	if p.w != nil {
		p.last = time.Now()
		_, _ = fmt.Fprintf(p.w, "\r\x1b[K[%d/%d] %s", p.done, p.total, text)
	}
}

// clear takes the line away.
func (p *progress) clear() {
	if p.w != nil {
		_, _ = fmt.Fprint(p.w, "\r\x1b[K")
	}
}
