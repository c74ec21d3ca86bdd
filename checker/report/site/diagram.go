package site

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// A diagram is a counterexample in space and time: a line for each task with a mark for each
// of its steps, arrows from what somebody changed to who met it first, bars over the time in
// which a task believes to hold, and below the lives of the files that stood at the watched
// names.
type diagram struct {
	ID            string
	Width, Height int
	Wide, Long    bool // it needs more room than a telephone has; than a desk has
	Lanes         []diagramLane
	Steps         []diagramStep
	Holds         []diagramBar
	Arrows        []diagramArrow
	Files         []diagramFile
	Axis          int // the numbers of the steps stand here
	// What the words below explain.
	Clashes, Preempts bool
}

// A diagramLane is the life of one task.
type diagramLane struct {
	lane
	Y, From, To int
	Killed      bool
}

// A diagramStep is one step: the strip that is clicked on, and its mark.
type diagramStep struct {
	N, X, Y, Left, Wide int
	Label, Title, Mark  string
	Ink                 int
	// Everybody: a stall or a loss of power.
	Failed, Wrong, Preempts, Fault, Everybody bool
}

// A diagramBar is a stretch of time.
type diagramBar struct {
	X, Y, Wide int
	Clash      bool
	Ink        int // -1: nobody in the run has made it
	Text       string
}

// A diagramArrow leads from a change to who met it. Head are the corners of its point.
type diagramArrow struct {
	X1, Y1, X2, Y2 int
	Head, Title    string
	Wrong, Missed  bool // Missed: the call does not notice
	Step           int
}

// A diagramFile is what stood at one name.
type diagramFile struct {
	Name  string
	Y     int
	Bars  []diagramBar
	Ticks []diagramBar // where the contents changed
}

// Sizes in pixels.
const (
	diagramLeft    = 96 // the names of lanes and files
	diagramColumn  = 46
	diagramRow     = 58
	diagramFileRow = 26
	diagramTop     = 26
	diagramPhone   = 640
	diagramDesk    = 1700
)

// newDiagram draws a counterexample whose chart has been judged.
func newDiagram(cx *trace.Counterexample, chart *report.Chart) *diagram {
	d := &diagram{
		ID: cx.Property.ID, Axis: 16,
		Width: diagramLeft + diagramColumn*(len(chart.Rows)+1), Height: diagramTop + diagramRow*len(chart.Lanes),
	}
	d.Wide, d.Long = d.Width > diagramPhone, d.Width > diagramDesk
	for i, l := range chart.Lanes {
		d.Lanes = append(d.Lanes, diagramLane{
			lane: lane{l.Name, l.Pid, l.Task.Process % inks}, Y: d.laneY(i), From: diagramLeft, To: d.Width - diagramColumn/2,
		})
	}
	for i := range chart.Rows {
		d.step(chart, &chart.Rows[i])
	}
	d.begin(chart)
	d.holds(chart)
	d.arrows(cx, chart)
	d.Height += 8
	for k := range chart.Files {
		d.file(chart, k)
	}
	return d
}

func (d *diagram) laneY(i int) int { return diagramTop + diagramRow*i + diagramRow*3/5 }

// begin has the lanes of tasks that do not run at first begin with their first steps.
func (d *diagram) begin(chart *report.Chart) {
	for i, l := range chart.Lanes {
		first := slices.IndexFunc(chart.Rows, func(r report.Row) bool { return r.Lane == i })
		if !chart.Walk.RunsAtFirst(l.Task) && first >= 0 {
			d.Lanes[i].From = d.x(chart.Rows[first].N) - diagramColumn/2
		}
	}
}

// x is the middle of a step's strip; of 0, that of the time before the first.
func (d *diagram) x(step int) int { return diagramLeft + diagramColumn*step }

// step draws the mark of one step.
func (d *diagram) step(chart *report.Chart, r *report.Row) {
	s := diagramStep{
		N: r.N, X: d.x(r.N), Left: d.x(r.N) - diagramColumn/2, Wide: diagramColumn, Mark: "✕",
		Wrong: r.Wrong, Preempts: r.Preempts, Fault: r.Fault, Everybody: r.Lane < 0, Y: diagramTop,
	}
	var told []string
	for _, c := range r.Calls {
		told = append(told, strings.TrimSpace(c.Call+" "+c.Answer))
		s.Failed = s.Failed || c.Failed
	}
	s.Title = fmt.Sprintf("step %d: %s", r.N, strings.Join(told, ", "))
	st := &chart.Walk.Steps[r.N-1]
	switch {
	case r.Lane < 0:
		s.Label = "clock"
		if st.Choice.Action == sched.PowerLoss {
			s.Label = "power"
		}
	case st.Choice.Action == sched.Signal:
		s.Label, s.Mark = "signal", "^"
	case r.Fault:
		s.Label = "killed"
	case len(st.Calls) > 0:
		s.Label = report.Clip(st.Calls[len(st.Calls)-1].Op.Call.String(), 7)
	}
	if r.Lane >= 0 {
		s.Y, s.Ink = d.laneY(r.Lane), d.Lanes[r.Lane].Ink
		s.Title = chart.Lanes[r.Lane].Name + ", " + s.Title
	}
	if r.Fault && st.Choice.Action != sched.Signal || st.Exited {
		for i := range d.Lanes {
			if l := &d.Lanes[i]; r.Lane < 0 && st.Choice.Action == sched.PowerLoss || r.Lane >= 0 && chart.Lanes[i].Task.Process == chart.Lanes[r.Lane].Task.Process {
				l.To, l.Killed = min(l.To, s.X), l.Killed || r.Fault
			}
		}
	}
	d.Preempts = d.Preempts || r.Preempts
	d.Steps = append(d.Steps, s)
}

// holds draws who believes to hold, step by step: in red while they may not all do so.
func (d *diagram) holds(chart *report.Chart) {
	for i := range d.Lanes {
		open := false
		for k := range chart.Rows {
			r := &chart.Rows[k]
			if !r.Holding[i] {
				open = false
				continue
			}
			if n := len(d.Holds); open && d.Holds[n-1].Clash == r.Clash {
				d.Holds[n-1].Wide += diagramColumn
				continue
			}
			open = true
			d.Clashes = d.Clashes || r.Clash
			d.Holds = append(d.Holds, diagramBar{X: d.x(r.N), Y: d.Lanes[i].Y, Wide: diagramColumn, Clash: r.Clash, Ink: d.Lanes[i].Ink})
		}
	}
	for i := range d.Holds { // the last ends with the picture
		b := &d.Holds[i]
		b.Wide = min(b.Wide, d.Width-diagramColumn/4-b.X)
	}
}

// file draws the lives of what stood at a name.
func (d *diagram) file(chart *report.Chart, k int) {
	f := diagramFile{Name: chart.Files[k], Y: d.Height + diagramFileRow/2}
	d.Height += diagramFileRow
	end := d.Width - diagramColumn/4
	was := &chart.First[k]
	if was.Exists {
		f.Bars = append(f.Bars, diagramBar{X: diagramLeft, Y: f.Y, Wide: end - diagramLeft, Ink: -1, Text: inodeText(was)})
	}
	for i := range chart.Rows {
		r := &chart.Rows[i]
		is := &r.Files[k]
		x := d.x(r.N)
		switch {
		case is.Exists == was.Exists && is.Inode == was.Inode:
			if is.Exists && is.Changed {
				f.Ticks = append(f.Ticks, diagramBar{X: x, Y: f.Y, Text: is.Text})
			}
		default:
			if n := len(f.Bars); was.Exists && n > 0 {
				f.Bars[n-1].Wide = x - f.Bars[n-1].X
			}
			if is.Exists {
				b := diagramBar{X: x, Y: f.Y, Wide: end - x, Ink: -1, Text: inodeText(is)}
				if r.Lane >= 0 {
					b.Ink = d.Lanes[r.Lane].Ink
				}
				f.Bars = append(f.Bars, b)
			}
		}
		was = is
	}
	d.Files = append(d.Files, f)
}

func inodeText(c *report.FileCell) string { return fmt.Sprintf("#%d", c.Inode) }

// arrows draws, for each task, what it met first of each change that others had made.
func (d *diagram) arrows(cx *trace.Counterexample, chart *report.Chart) {
	type sight struct {
		task sched.Task
		step int
	}
	seen := map[sight]bool{}
	w := chart.Walk
	for i := range w.Steps {
		st := &w.Steps[i]
		if st.Choice.Action != sched.Run {
			continue
		}
		for k := range st.Calls {
			from, what := met(w, st, k)
			if from == nil || seen[sight{st.Choice.Task, from.N}] {
				continue
			}
			seen[sight{st.Choice.Task, from.N}] = true
			d.arrow(chart, from.N, st.N, st.N == cx.Act, false,
				fmt.Sprintf("%s meets at step %d what %s %s at step %d", st.Choice.Task, st.N, from.Choice.Task, what, from.N))
		}
	}
	d.missed(cx, chart)
}

// missed draws what the call that went wrong, which works on what it had opened, does not
// notice.
func (d *diagram) missed(cx *trace.Counterexample, chart *report.Chart) {
	if cx.Act == 0 || slices.ContainsFunc(d.Arrows, func(a diagramArrow) bool { return a.Wrong }) {
		return
	}
	st := &chart.Walk.Steps[cx.Act-1]
	for _, targets := range st.Targets {
		for _, t := range targets {
			from := changed(chart.Walk, st, func(c *trace.Change) bool { return t.Path != "" && c.Path == t.Path && c.Identity() })
			if t.ByFD && from != nil && from.Choice.Task != st.Choice.Task && from.N > t.Opened.Step {
				d.arrow(chart, from.N, st.N, true, true,
					fmt.Sprintf("%s does not notice at step %d what %s did at step %d", st.Choice.Task, st.N, from.Choice.Task, from.N))
				return
			}
		}
	}
}

// arrow draws an arrow from one step to another, if two tasks make them. It is shortened so
// that it does not cover the marks.
func (d *diagram) arrow(chart *report.Chart, from, to int, wrong, missed bool, title string) {
	one, other := chart.Rows[from-1].Lane, chart.Rows[to-1].Lane
	if one < 0 || other < 0 || one == other {
		return
	}
	a := diagramArrow{
		X1: d.x(from), Y1: d.laneY(one), X2: d.x(to), Y2: d.laneY(other),
		Step: to, Wrong: wrong, Missed: missed, Title: title,
	}
	dx, dy := float64(a.X2-a.X1), float64(a.Y2-a.Y1)
	n := math.Hypot(dx, dy)
	dx, dy = dx/n, dy/n
	const gap, long, half = 9, 8, 3.5
	a.X1, a.Y1 = a.X1+int(gap*dx), a.Y1+int(gap*dy)
	tipX, tipY := float64(a.X2)-gap*dx, float64(a.Y2)-gap*dy
	a.X2, a.Y2 = int(tipX-long*dx/2), int(tipY-long*dy/2)
	a.Head = fmt.Sprintf("%.1f,%.1f %.1f,%.1f %.1f,%.1f", tipX, tipY,
		tipX-long*dx-half*dy, tipY-long*dy+half*dx, tipX-long*dx+half*dy, tipY-long*dy-half*dx)
	d.Arrows = append(d.Arrows, a)
}

// met is the last step of another task whose effect a call met, and what that had done: it
// had changed what stood at a name, what is in a file, or it had the kernel lock.
func met(w *trace.Walk, st *trace.Walked, call int) (*trace.Walked, string) {
	op := &st.Calls[call].Op
	if op.Call.IsLock() && !st.Calls[call].Result.OK() {
		if len(st.Targets[call]) == 0 {
			return nil, ""
		}
		return locker(w, st, st.Targets[call][0].ID), "had locked"
	}
	for _, t := range st.Targets[call] {
		if t.ByFD && op.Call != fsfake.CallRead && op.Call != fsfake.CallPread && op.Call != fsfake.CallReaddir {
			continue
		}
		from := changed(w, st, func(c *trace.Change) bool {
			return !t.ByFD && c.Path == t.Path && c.Path != "" || t.ByFD && t.ID != 0 && c.After.ID == t.ID && !c.Identity()
		})
		if from != nil && from.Choice.Action == sched.Run && from.Choice.Task != st.Choice.Task {
			return from, "did to " + w.Names.Short(t.Path)
		}
	}
	return nil, ""
}

// changed is the last step before one that made such a change; nil when none did.
func changed(w *trace.Walk, st *trace.Walked, such func(*trace.Change) bool) *trace.Walked {
	for i := st.N - 2; i >= 0; i-- {
		for k := range w.Steps[i].Changes {
			if such(&w.Steps[i].Changes[k]) {
				return &w.Steps[i]
			}
		}
	}
	return nil
}

// locker is the last step before one in which another task got a kernel lock on a file.
func locker(w *trace.Walk, st *trace.Walked, id fsfake.InodeID) *trace.Walked {
	for i := st.N - 2; i >= 0; i-- {
		from := &w.Steps[i]
		for k := range from.Calls {
			if from.Calls[k].Op.Call.IsLock() && from.Calls[k].Result.OK() && from.Choice.Task != st.Choice.Task &&
				len(from.Targets[k]) > 0 && from.Targets[k][0].ID == id {
				return from
			}
		}
	}
	return nil
}
