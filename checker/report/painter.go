package report

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
)

// A painter writes a drawing in one layout.
type painter struct {
	Drawing
	l layout
	s Style
	w *bufio.Writer
	// seen are the marks that were used.
	holds, preempts, inodes bool
}

func (p *painter) write(l *line) {
	_, _ = fmt.Fprintln(p.w, l.render(p.s, p.s.width()))
}

// starts returns where column i begins, after its bar.
func (p *painter) start(i int) int {
	at := gutter
	if !p.l.lanes {
		return at + p.rail() + p.names()
	}
	for k := range i {
		at += barWidth + p.l.cells[k].all + laneGap
	}
	return at + barWidth
}

// filesStart is where the first file's column begins. When the line is too short for
// all, the files stay and the calls are clipped.
func (p *painter) filesStart() int {
	last := len(p.l.cells) - 1
	at := p.start(last) + p.l.cells[last].all + laneGap
	if over := p.l.width - p.s.width(); over > 0 {
		at = max(at-over, p.start(last)+leastRow)
	}
	return at
}

// heading names the columns, and what stood there at first.
func (p *painter) heading() {
	l := (&line{}).add(dim, pad("  step", gutter))
	if p.l.lanes {
		for i := range p.Lanes {
			l.put(p.start(i), laneInk(p.Lanes[i].Task.Process)+";1", p.Lanes[i].Name).
				add(dim, fmt.Sprintf("  pid %d", p.Lanes[i].Pid))
		}
	} else {
		for i := range p.Lanes {
			l.put(gutter+2*i, laneInk(p.Lanes[i].Task.Process)+";1", railTitle(&p.Lanes[i]))
		}
	}
	at := p.filesStart()
	for k, name := range p.Files {
		l.put(at, bold, name)
		at += p.l.files[k] + fileGap
	}
	p.write(l)
	first := &line{}
	if p.files(first, p.First, false); len(first.text) > 0 {
		p.write(first)
	}
}

// railTitle names a lane in one column.
func railTitle(l *Lane) string {
	if l.Task.N > 1 {
		return strconv.Itoa(l.Task.N % 10)
	}
	return l.Name
}

// row writes one step, on as many lines as it has calls.
func (p *painter) row(r *Row) {
	p.preempts = p.preempts || r.Preempts
	for i, c := range r.Calls {
		l := &line{}
		p.margin(l, r, i == 0)
		p.bars(l, r)
		p.call(l, r, c)
		p.files(l, r.Files, i > 0)
		p.write(l)
	}
}

// margin writes the mark and the number of a step.
func (p *painter) margin(l *line, r *Row, first bool) {
	if !first {
		return
	}
	mark, i, number := " ", plain, dim
	switch {
	case r.Wrong:
		mark, i, number = markWrong, bad, bad
	case r.Preempts:
		mark, i = markPreempts, warn
	case p.Cycle > 0 && r.N > len(p.Rows)-p.Cycle:
		mark, i = markCycle, warn
	}
	l.put(2, i, mark).put(3, number, fmt.Sprintf("%3d", r.N))
}

// bars shows who holds.
func (p *painter) bars(l *line, r *Row) {
	for i, h := range r.Holding {
		at := p.start(i) - barWidth
		if !p.l.lanes {
			at = gutter + 2*i
		}
		switch {
		case h && r.Clash:
			l.put(at, bad, markHolds)
		case h:
			l.put(at, good, markHolds)
		case !p.l.lanes && i == r.Lane && r.Fault:
			l.put(at, bad, markKilled)
		case !p.l.lanes && i == r.Lane:
			l.put(at, laneInk(p.Lanes[i].Task.Process), markActs)
		case !p.l.lanes:
			l.put(at, dim, "·")
		}
		p.holds = p.holds || h
	}
}

// call writes one call in its lane's column.
func (p *painter) call(l *line, r *Row, c CallText) {
	at, name := max(0, r.Lane), ""
	if !p.l.lanes {
		at = 0
		if r.Lane >= 0 {
			name = p.Lanes[r.Lane].Name
		}
	}
	if name != "" {
		l.put(p.start(0)-p.names(), laneInk(p.Lanes[r.Lane].Task.Process), name)
	}
	call, answer := p.l.text(c)
	end := p.filesStart() - laneGap
	if p.l.lanes && at < len(p.l.cells)-1 && !r.Fault {
		end = min(end, p.start(at)+p.l.cells[at].all)
	}
	w := end - p.start(at)
	if over := columns(call) + answerGap(answer) - w; over > 0 && answer != "" {
		answer = Clip(answer, max(10, columns(answer)-over))
	}
	if gap := answerGap(answer); columns(call)+gap > w {
		call = Clip(call, max(4, w-gap))
	}
	ink := plain
	switch {
	case r.Fault:
		ink = bad
	case c.Operation:
		ink = accent
	}
	l.put(p.start(at), ink, call)
	if answer == "" {
		return
	}
	i := dim
	if c.Failed {
		i = warn
	}
	to := p.start(at) + columns(call) + 2
	if p.l.aligned {
		to = max(to, min(p.start(at)+p.l.cells[at].call+2, end-columns(answer)))
	}
	l.put(to, i, answer)
}

// files writes what stands at the names after a step: only what has changed, and a
// thin line while it stays. More says that the step's first line has shown it.
func (p *painter) files(l *line, cells []FileCell, more bool) {
	at := p.filesStart()
	for k, c := range cells {
		text, i := "", plain
		switch {
		case c.Changed && !more:
			text = c.Text
			p.inodes = p.inodes || strings.Contains(text, "#1")
			if !c.Exists {
				i = dim
			}
		case c.Exists:
			text, i = markSame, dim
		}
		if text != "" {
			l.put(at, i, text)
		}
		at += p.l.files[k] + fileGap
	}
}

// wrong says what is wrong after the last row.
func (p *painter) wrong() {
	if p.Wrong != "" {
		for _, text := range wrap(p.Wrong, p.s.width()-gutter) {
			p.write((&line{}).put(gutter, bad, text))
		}
	}
	p.write(&line{})
}

// legend explains the marks that were used.
func (p *painter) legend() {
	var parts []string
	if p.holds {
		parts = append(parts, markHolds+" believes to hold the lock")
	}
	if p.preempts {
		parts = append(parts, markPreempts+" preempts the task above")
	}
	if p.inodes {
		parts = append(parts, "#1 = inode 1")
	}
	if p.Dir != "" {
		parts = append(parts, "files in "+p.Dir)
	}
	l := &line{}
	for _, part := range parts {
		if len(l.text) > 0 && len(l.text)+3+columns(part) > p.s.width() {
			p.write(l)
			l = &line{}
		}
		l.add(dim, "  "+part+" ")
	}
	if len(parts) > 0 {
		p.write(l)
		p.write(&line{})
	}
}
