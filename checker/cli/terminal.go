package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/numbers"
)

// style is how output to w looks: colour only on a terminal and unless NO_COLOR is
// set, as wide as the terminal is, up to 100 columns.
func (a *app) style(w io.Writer, width widthFlag) report.Style {
	s := report.Style{Width: int(width)}
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

// say prints a text with a label before its first line.
func (a *app) say(s report.Style, label, text string) {
	_, _ = fmt.Fprintln(a.stdout, strings.Join(s.Tell(label, text), "\n"))
}

// widest is the most columns that are used unasked: longer lines are hard to read.
const widest = 120

// A progress shows on one line of a terminal what is going on, and above it the verdicts that hold so far. Everything
// else that is printed takes that away first.
type progress struct {
	w     *os.File // nil for none
	total int

	mu    sync.Mutex // an interrupt comes from elsewhere, and so does a second that has passed
	done  int
	last  time.Time
	ended bool
	shown bool
	text  string // what is shown, without the time
	above int    // lines above it
	start time.Time
	timer *time.Timer // until the time is shown anew
	early *early      // what to show when it has waited for a second
}

// newProgress shows how far total verdicts have come, until ctx ends or clear is called.
func (a *app) newProgress(ctx context.Context, total int, quiet bool) *progress {
	p := &progress{total: total, start: time.Now(), early: &a.early}
	if f, ok := a.stderr.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) && a.env("TERM") != "dumb" {
		p.w = f
		context.AfterFunc(ctx, p.end)
	}
	a.bar = p
	return p
}

// begin says that the next verdict is under way.
func (p *progress) begin(id, property string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	p.line(id + " " + property)
}

// follow shows how far a search has come.
func (p *progress) follow(g checker.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last) >= 100*time.Millisecond {
		p.line(fmt.Sprintf("%s %s: %d states, depth %d", g.Scenario, g.Property, g.States, g.Depth))
	}
}

// followRun shows how far a search has come in which real programs run.
func (p *progress) followRun(g checker.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if g.Within != nil {
		p.early.bound(g.Property.String() + " " + g.Within.String())
	}
	if g.Broken || g.Again || time.Since(p.last) >= 100*time.Millisecond {
		p.line(fmt.Sprintf("%s: %s, %d executions, %d calls learned", g.Property, doing(g), g.Executions, g.Learned))
	}
}

// doing says what a search does in which real programs run.
func doing(g checker.Progress) string {
	states := fmt.Sprintf("%d states", g.States)
	switch {
	case g.Broken:
		return fmt.Sprintf("broken in %s with %s; looking for a smaller counterexample",
			numbers.Count(g.Depth, "step", "steps"), numbers.Count(g.Preemptions, "preemption", "preemptions"))
	case g.Places > 0:
		return fmt.Sprintf("schedules with %s: %d of %d places", numbers.Count(g.Preemptions, "preemption",
			"preemptions"), g.Place, g.Places)
	case g.Draws > 0:
		return fmt.Sprintf("directed and drawn schedules: %d of %d", g.Drawn, g.Draws)
	case g.Again:
		return "looking again at what holds with few preemptions"
	case g.Within != nil:
		return fmt.Sprintf("holds with up to %s; going on: %s",
			numbers.Count(g.Within.Preemptions, "preemption", "preemptions"), states)
	}
	return states
}

// line writes the line anew, as much of it as fits: a line that is broken by the
// terminal could not be taken away.
func (p *progress) line(text string) {
	p.early.at(text)
	if p.w == nil || p.ended {
		return
	}
	width, _, err := term.GetSize(int(p.w.Fd()))
	if err != nil || width < 2 {
		return
	}
	p.last, p.shown, p.text = time.Now(), true, text
	if p.timer == nil {
		p.timer = time.AfterFunc(time.Second, p.tick)
	}
	if d := time.Since(p.start); d >= time.Second {
		text += fmt.Sprintf(" · %.0f s", d.Seconds())
	}
	if p.total > 1 {
		text = fmt.Sprintf("[%d/%d] %s", p.done, p.total, text)
	}
	before := "\r\x1b[K"
	if held := p.early.holding(); len(held) != p.above {
		before = p.away()
		for _, line := range held {
			before += report.Clip(line, width-1) + "\n"
		}
		p.above = len(held)
	}
	text = report.Clip(report.Visible(text), width-1)
	_, _ = fmt.Fprint(p.w, before+text)
}

// away takes all lines away.
func (p *progress) away() string {
	defer func() { p.above = 0 }()
	return strings.Repeat("\r\x1b[K\x1b[A", p.above) + "\r\x1b[K"
}

// tick shows the line again with the time, so that nothing is silent.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown && !p.ended {
		if text := p.early.due(); text != "" {
			_, _ = fmt.Fprintf(p.w, "%s%s\n", p.away(), text)
		}
		p.line(p.text)
		p.timer.Reset(time.Second)
	}
}

// clear takes the line away.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		_, _ = fmt.Fprint(p.w, p.away())
		p.shown = false
		p.timer.Stop()
		p.timer = nil
	}
}

// end takes the line away for good.
func (p *progress) end() {
	p.clear()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
