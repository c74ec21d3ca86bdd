package report

import (
	"fmt"
	"strconv"

	"lockpick/sched"
)

// A painter writes a drawing in one layout.
type painter struct {
	Drawing
	l layout
	s Style
	// emit takes each line as it is ready.
	emit func(*line, *Row)
	// cycle is the last step that is not part of the cycle.
	cycle int
	// merged: one column tells the changes of all files.
	merged bool
	// seen are the marks that were used.
	holds, preempts, inodes, folds, skips bool
}

func (p *painter) write(l *line) { p.emit(l, l.row) }

// starts returns where column i begins, after its bar.
func (p *painter) start(i int) int {
	at := p.l.left
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
	l := (&line{}).add(dim, pad("  step", p.l.left))
	if p.l.lanes {
		for i := range p.Lanes {
			l.put(p.start(i), laneInk(p.Lanes[i].Task.Process)+";1", p.Lanes[i].Name).
				add(dim, fmt.Sprintf("  pid %d", p.Lanes[i].Pid))
		}
	} else {
		for i := range p.Lanes {
			l.put(p.l.left+2*i, laneInk(p.Lanes[i].Task.Process)+";1", railTitle(&p.Lanes[i]))
		}
	}
	at := p.filesStart()
	for k, name := range p.Files {
		l.put(at, bold, name)
		at += p.l.files[k] + fileGap
	}
	p.write(l)
	cells := p.cells(p.First)
	for n := range height(cells) {
		first := &line{}
		p.files(first, p.First, cells, n)
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

// row writes one step, on as many lines as it needs.
func (p *painter) row(r *Row) {
	p.preempts, p.folds, p.skips = p.preempts || r.Preempts, p.folds || r.Folded > 0, p.skips || r.Skipped > 0
	cells := p.cells(r.Files)
	n := 0
	for _, c := range r.Calls {
		for _, part := range p.parts(r, c) {
			p.line(r, cells, n, part)
			n++
		}
	}
	for ; n < height(cells); n++ {
		p.line(r, cells, n, part{})
	}
}

// line writes one of a step's lines.
func (p *painter) line(r *Row, cells [][]string, n int, call part) {
	l := &line{row: r}
	p.margin(l, r, n == 0)
	p.bars(l, r)
	p.call(l, r, call)
	p.files(l, r.Files, cells, n)
	p.write(l)
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
	case p.Cycle > 0 && r.N > p.cycle:
		mark, i = markCycle, warn
	case r.Skipped > 0:
		mark, i = markSkips, dim
	}
	l.put(2, i, mark).put(3, number, fmt.Sprintf("%3d", r.N))
	if p.s.Source {
		l.put(gutter, dim, r.Source)
	}
}

// fault is the mark of a row that is more than a step of its lane.
func (p *painter) fault(r *Row) string {
	if p.Walk.Steps[r.N-1].Choice.Action == sched.Signal {
		return markSignal
	}
	return markKilled
}

// bars shows who holds.
func (p *painter) bars(l *line, r *Row) {
	for i, h := range r.Holding {
		at := p.start(i) - barWidth
		if !p.l.lanes {
			at = p.l.left + 2*i
		}
		switch {
		case h && r.Clash:
			l.put(at, bad, markHolds)
		case h:
			l.put(at, good, markHolds)
		case !p.l.lanes && i == r.Lane && r.Fault:
			l.put(at, bad, p.fault(r))
		case !p.l.lanes && i == r.Lane:
			l.put(at, laneInk(p.Lanes[i].Task.Process), markActs)
		case !p.l.lanes:
			l.put(at, dim, "·")
		}
		p.holds = p.holds || h
	}
}

// A part is what one line shows of a call.
type part struct {
	call, answer string
	// more: the line goes on with the call of the line before.
	more bool
	of   CallText
}

// parts breaks a call into lines that fit its column. Nothing of it is left out.
func (p *painter) parts(r *Row, c CallText) []part {
	call, answer := p.l.text(c)
	w := p.room(r)
	if columns(call)+answerGap(answer) <= w {
		return []part{{call: call, answer: answer, of: c}}
	}
	var out []part
	for i, text := range broken(call, w, 2) {
		out = append(out, part{call: text, more: i > 0, of: c})
	}
	if last := &out[len(out)-1]; columns(last.call)+answerGap(answer) <= w {
		last.answer = answer
		return out
	}
	for _, text := range broken(answer, w, 2) {
		out = append(out, part{answer: text, more: true, of: c})
	}
	return out
}

// room is the width of the column for a row's calls.
func (p *painter) room(r *Row) int {
	at := p.lane(r)
	end := p.filesStart() - laneGap
	if p.l.lanes && at < len(p.l.cells)-1 && !r.Fault {
		end = min(end, p.start(at)+p.l.cells[at].all)
	}
	return end - p.start(at)
}

// lane is the column that a row's calls are in.
func (p *painter) lane(r *Row) int {
	if !p.l.lanes {
		return 0
	}
	return max(0, r.Lane)
}

// call writes a line of a call in its lane's column.
func (p *painter) call(l *line, r *Row, c part) {
	at := p.start(p.lane(r))
	if !p.l.lanes && r.Lane >= 0 {
		l.put(p.start(0)-p.names(), laneInk(p.Lanes[r.Lane].Task.Process), p.Lanes[r.Lane].Name)
	}
	i := plain
	switch {
	case r.Fault:
		i = bad
	case r.Folded > 0:
		i = dim
	case c.of.Operation:
		i = accent
	}
	if c.more {
		at += 2
	}
	l.put(at, i, c.call)
	if c.answer == "" {
		return
	}
	i = dim
	if c.of.Failed {
		i = warn
	}
	to := at
	if c.call != "" {
		to = at + columns(c.call) + 2
		if p.l.aligned && !c.more {
			to = max(to, min(at+p.l.cells[p.lane(r)].call+2, p.start(p.lane(r))+p.room(r)-columns(c.answer)))
		}
	}
	l.put(to, i, c.answer)
}

// cells breaks what stands at the names into lines.
func (p *painter) cells(files []FileCell) [][]string {
	out := make([][]string, len(files))
	for k, c := range files {
		if !c.Changed || c.Text == "" {
			continue
		}
		out[k] = []string{c.Text}
		if last := k == len(files)-1; last {
			at := p.filesStart()
			for i := range k {
				at += p.l.files[i] + fileGap
			}
			out[k] = broken(c.Text, max(p.s.width()-at, 8), 2)
			for i := range out[k] {
				if i > 0 {
					out[k][i] = "  " + out[k][i]
				}
			}
		}
	}
	return out
}

// height is how many lines cells need.
func height(cells [][]string) int {
	n := 0
	for _, c := range cells {
		n = max(n, len(c))
	}
	return n
}

// files writes line n of what stands at the names after a step: only what has changed,
// and a thin line while it stays.
func (p *painter) files(l *line, files []FileCell, cells [][]string, n int) {
	at := p.filesStart()
	for k, c := range files {
		text, i := "", plain
		switch {
		case n < len(cells[k]):
			text = cells[k][n]
			p.inodes = p.inodes || c.Inode > 0
			if !c.Exists && !p.merged {
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
		for _, text := range wrap(p.Wrong, p.s.width()-p.l.left) {
			p.write((&line{}).put(p.l.left, bad, text))
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
	if p.skips {
		parts = append(parts, markSkips+" steps are left out")
	}
	if p.folds || p.skips {
		parts = append(parts, "--unfold shows every step")
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
