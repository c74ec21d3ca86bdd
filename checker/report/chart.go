package report

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/numbers"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Chart is a counterexample as a timeline shows it, before any layout: who did what,
// in rows; what stood at the watched names after each.
type Chart struct {
	// Dir is the directory that file names are relative to, or empty.
	Dir   string
	Lanes []Lane
	// Files are the short names of the files shown, and First what stood there at first.
	Files []string
	First []FileCell
	Rows  []Row
	// Wrong says in a few words what is wrong after the last row; empty when nothing is.
	Wrong string
	// Walk is the trace that the chart shows, and Named the steps that its cause names.
	Walk  *trace.Walk
	Named []int
	// Programs: the tasks are real programs, whose own calls are folded.
	Programs bool
}

// A Lane is one task.
type Lane struct {
	Task sched.Task
	Name string // "A", "A.2"
	Pid  int
}

// A Row is one step of a schedule.
type Row struct {
	N int
	// Lane is the index of the lane that acted, or -1 for a stall and a loss of power.
	Lane int
	// Calls are the calls of the step; for a kill or a stall there is one, with the fault.
	Calls []CallText
	// Fault: the row is a kill or a stall.
	Fault bool
	// Preempts: the step is a switch away from a task that could have gone on.
	Preempts bool
	// Holding says of each lane whether its task believes to hold the lock after the step.
	Holding []bool
	Files   []FileCell
	// Clash: of those who hold, one does not only read.
	Clash bool
	// Wrong marks the step that breaks the property.
	Wrong bool
	// Source is the line of the source that makes the call: "lock.go:31"; empty when it is
	// not known.
	Source string
	// Folded is how many steps the row stands for, from N on, when it is more than one.
	Folded int
	// Skipped is how many steps before the row are left out of the chart.
	Skipped int
}

// A CallText is one call with its answer, or with Operation the answer of an operation
// of the history that returned with the step.
type CallText struct {
	Call, Answer string
	// Terse is Call with constants that lack their prefixes.
	Terse     string
	Failed    bool
	Operation bool
}

// A FileCell is what stands at a watched name after a step.
type FileCell struct {
	Text string
	// Inode is the number that the text gives for the file; 0 for none.
	Inode   int
	Exists  bool
	Changed bool
}

// NewChart lays out a counterexample of a scenario, marks the step that breaks the property, and says how.
func NewChart(sc *scenarios.Scenario, cx *trace.Counterexample) *Chart {
	c := newRunChart(sc, cx)
	c.judge(sc, cx)
	return c
}

// newRunChart lays out a run of which nothing is said to be wrong.
func newRunChart(sc *scenarios.Scenario, run *trace.Counterexample) *Chart {
	w := trace.NewWalk(sc, run.Trace)
	c := &charter{
		sc: sc, walk: w, chart: Chart{Walk: w, Named: run.Named, Programs: sc.OfCommands()},
		aging: w.Ages(), renumbered: w.Renumbers(),
	}
	c.lanes()
	c.choose()
	for _, i := range c.shown {
		c.chart.Files = append(c.chart.Files, w.Names.Short(sc.Watch[i]))
		c.chart.First = append(c.chart.First, c.file(&w.Start.Files[i], nil))
	}
	for i := range w.Steps {
		c.row(&w.Steps[i])
	}
	if d := w.Names.Dir(); d != "/" {
		c.chart.Dir = Visible(d)
	}
	c.chart.visible()
	return &c.chart
}

// visible makes the texts that come from programs such as can be shown.
func (c *Chart) visible() {
	for i := range c.Files {
		c.Files[i] = Visible(c.Files[i])
	}
	cells := func(list []FileCell) {
		for i := range list {
			list[i].Text = Visible(list[i].Text)
		}
	}
	cells(c.First)
	for i := range c.Rows {
		r := &c.Rows[i]
		cells(r.Files)
		for k := range r.Calls {
			c := &r.Calls[k]
			c.Call, c.Terse, c.Answer = Visible(c.Call), Visible(c.Terse), Visible(c.Answer)
		}
	}
}

// charter makes a chart.
type charter struct {
	sc    *scenarios.Scenario
	walk  *trace.Walk
	shown []int // indices of watched files
	chart Chart
	asked []any // by lane: the operation under way
	// aging: files differ in age; renumbered: a number that a program sees of an inode
	// stands for two, or an inode has two.
	aging, renumbered bool
}

// lanes are the tasks, without those that nobody started and handlers that no signal came to.
func (c *charter) lanes() {
	for _, t := range trace.Tasks(&c.sc.Setting) {
		steps := func(st trace.Walked) bool { return st.Choice.Task == t && st.Choice.Action != sched.Signal }
		if !c.walk.RunsAtFirst(t) && !slices.ContainsFunc(c.walk.Steps, steps) {
			continue
		}
		c.chart.Lanes = append(c.chart.Lanes, Lane{t, t.String(), trace.PidOf(t)})
	}
	c.asked = make([]any, len(c.chart.Lanes))
}

func (c *charter) lane(t sched.Task) int {
	return slices.IndexFunc(c.chart.Lanes, func(l Lane) bool { return l.Task == t })
}

// choose picks the watched files that the trace names or changes; the first, which is
// the lock, always.
func (c *charter) choose() {
	for i, p := range c.sc.Watch {
		named, first := i == 0, &c.walk.Start.Files[i]
		for k := range c.walk.Steps {
			st := &c.walk.Steps[k]
			f := &st.After.Files[i]
			named = named || f.Exists != first.Exists || f.ID != first.ID || f.Content != first.Content
			for _, call := range st.Calls {
				named = named || call.Op.Path == p && call.Result.OK() || call.Op.Path2 == p && call.Result.OK()
			}
		}
		if named {
			c.shown = append(c.shown, i)
		}
	}
}

func (c *charter) row(st *trace.Walked) {
	r := Row{N: st.N, Lane: -1, Preempts: st.Preempts, Holding: make([]bool, len(c.chart.Lanes))}
	if s := sourceOf(st.Step); s.File != "" {
		r.Source = Visible(fmt.Sprintf("%s:%d", path.Base(s.File), s.Line))
	}
	switch st.Choice.Action {
	case sched.Kill:
		r.Lane, r.Fault = c.lane(st.Choice.Task), true
		r.Calls = []CallText{{Call: "killed (SIGKILL)"}}
	case sched.Signal:
		r.Lane, r.Fault = c.lane(st.Choice.Task), true
		r.Calls = []CallText{{Call: "gets a signal; its handler begins"}}
	case sched.Stall:
		r.Fault = true
		r.Calls = []CallText{{Call: fmt.Sprintf("the clock jumps ahead by %s", numbers.Time(st.Passed))}}
		if st.Passed < 0 {
			r.Calls[0].Call = fmt.Sprintf("the clock is set back by %s", numbers.Time(-st.Passed))
		}
	case sched.PowerLoss:
		r.Fault = true
		r.Calls = []CallText{{Call: fmt.Sprintf("the power is lost; the disk is left in state %d", st.Choice.State)}}
	default:
		r.Lane = c.lane(st.Choice.Task)
		for i := range st.Calls {
			if st.Calls[i].Op.Call != fsfake.CallChoose || i+1 == len(st.Calls) { // the chosen call says it all
				r.Calls = append(r.Calls, c.call(st, i))
			}
		}
		if st.Choice.Fails != "" {
			r.Calls[0].Answer += " (made to fail)"
		}
		r.Calls = append(r.Calls, c.operation(st.Step, r.Lane)...)
	}
	r.Clash = trace.Clash(st.Holders)
	for _, h := range st.Holders {
		if i := c.lane(h.Task); i >= 0 {
			r.Holding[i] = true
		}
	}
	for _, i := range c.shown {
		r.Files = append(r.Files, c.file(&st.After.Files[i], &st.Before.Files[i]))
	}
	c.chart.Rows = append(c.chart.Rows, r)
}

// operation is the answer of an operation that returned with the step, unless the bar
// of the lane shows it already. Of several locks the bar does not show which.
func (c *charter) operation(st *trace.Step, lane int) []CallText {
	if st.Invoked != nil {
		c.asked[lane] = st.Invoked
	}
	if st.Returned == nil {
		return nil
	}
	switch out := st.Returned.(type) {
	case model.Acquired:
		if out.OK && !out.Shared && lockOf(c.asked[lane]) == "" {
			return nil
		}
	case model.Released:
		if lockOf(c.asked[lane]) == "" {
			return nil
		}
	}
	return []CallText{{Call: ofLocks(c.walk.Names, c.asked[lane], fmt.Sprint(c.asked[lane])),
		Answer: fmt.Sprint(st.Returned), Operation: true}}
}

// file describes what stands at a name; before is nil for the first row.
func (c *charter) file(f, before *trace.FileState) FileCell {
	cell := FileCell{Text: c.fileText(f), Exists: f.Exists}
	if f.Exists {
		cell.Inode = c.walk.Inodes.Of(f.ID)
	}
	cell.Changed = before == nil || c.fileText(before) != cell.Text
	if before != nil && c.aging && !cell.Changed && f.Exists && f.Mtime != before.Mtime {
		cell.Text, cell.Changed = cell.Text+" touched", true
	}
	return cell
}

func (c *charter) fileText(f *trace.FileState) string {
	if !f.Exists {
		return "—"
	}
	words := []string{fmt.Sprintf("#%d", c.walk.Inodes.Of(f.ID))}
	switch {
	case f.Kind == fsfake.KindDir && len(f.Names) == 0:
		words = append(words, "directory")
	case f.Kind == fsfake.KindDir:
		words = append(words, "directory: "+strings.Join(f.Names, " "))
	case f.Kind == fsfake.KindSymlink:
		words = append(words, "→ "+f.Target)
	case f.Kind == fsfake.KindFIFO, f.Kind == fsfake.KindSocket:
		words = append(words, f.Kind.String())
	case f.Content == "":
		words = append(words, "empty")
	default:
		words = append(words, c.walk.Quote(f.Content, dataAtName))
	}
	for _, l := range f.Flocks {
		words = append(words, "flock "+c.holders(l.Holders))
	}
	for _, l := range f.Records {
		who := c.holders(l.Holders)
		if !l.OFD {
			who = c.holders([]fsfake.FDRef{{Pid: l.Lock.Pid}})
		}
		words = append(words, "lock "+who)
	}
	return strings.Join(words, " ")
}

// holders names the processes of descriptors, each once. A child that has the lock from its parent changes nothing for
// the others while the parent has it, too.
func (c *charter) holders(refs []fsfake.FDRef) string {
	var out []string
	for _, r := range refs {
		name := c.walk.Who(r.Pid)
		parent, child := c.walk.ChildOf(r.Pid)
		inherits := child && slices.ContainsFunc(refs, func(o fsfake.FDRef) bool { return o.Pid == parent })
		if !inherits && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}
