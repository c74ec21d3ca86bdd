package site

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A state is the machine after a step, and who believes to hold the lock.
type state struct {
	N       int
	Holders []string
	Holding string // who holds what, in a sentence
	Clash   bool
	Wrong   string // what is wrong here, at the step that breaks the property
	Files   []fileState
	FDs     []fdState
	Gone    []processEnd
	Cells   []memory
	Clock   string // since the start, when it moves at all
}

// A text is a piece of a state; Changed when it was another after the step before.
type text struct {
	Text    string
	Changed bool
}

// A fileState is what stands at a watched name.
type fileState struct {
	Name                                   string
	Exists                                 bool
	Inode, Content, Links, Openers, Locked text
}

// An fdState is an open descriptor.
type fdState struct {
	Owner                           string
	Pid, FD                         int
	Inode, Name, Mode, Offset, Lock string
	Unnamed, New                    bool
}

// A processEnd is a process that is gone.
type processEnd struct{ Name, How string }

// A memory is a variable that the tasks of a process share.
type memory struct {
	Owner, Cell string
	Value       text
}

// HoldersText says who believes to hold; "" where no lock is in question.
func (s *state) HoldersText() string {
	text := s.Holding
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// newStates walks through a trace and returns its states, the start first.
func newStates(chart *report.Chart) []state {
	v := &viewer{walk: chart.Walk}
	for i := range v.walk.Steps {
		v.moves = v.moves || !v.walk.Steps[i].After.Clock.Equal(v.walk.Start.Clock)
	}
	out := []state{v.state(0, v.walk.Start)}
	for i := range v.walk.Steps {
		st := &v.walk.Steps[i]
		s := v.state(st.N, st.After)
		if chart.Rows[i].Wrong && chart.Wrong != s.HoldersText() {
			s.Wrong = chart.Wrong
		}
		s.compare(&out[i])
		out = append(out, s)
	}
	holds := func(s state) bool { return len(s.Holders) > 0 }
	if chart.Programs && !slices.ContainsFunc(out, holds) { // programs note no locks
		for i := range out {
			out[i].Holding = ""
		}
	}
	return out
}

// A viewer renders states.
type viewer struct {
	walk  *trace.Walk
	moves bool // the clock
}

func (v *viewer) state(n int, at *trace.State) state {
	s := state{
		N: n, Clash: trace.Clash(at.Holders), Holders: trace.HolderTexts(at.Holders),
		Holding: v.walk.Names.Shorten(trace.HoldText(at.Holders)),
	}
	for i := range at.Files {
		s.Files = append(s.Files, v.file(&at.Files[i]))
	}
	for i := range at.Procs {
		for k := range at.Procs[i].FDs {
			s.FDs = append(s.FDs, v.fd(at.Procs[i].Pid, &at.Procs[i].FDs[k]))
		}
	}
	for _, e := range at.Ended {
		s.Gone = append(s.Gone, processEnd{scenarios.ProcessName(e.Process), fate(e.How)})
	}
	for _, c := range at.Cells {
		s.Cells = append(s.Cells, memory{scenarios.ProcessName(c.Process), c.Cell,
			text{Text: report.CellText(c.Value)}})
	}
	if v.moves {
		s.Clock = "+" + at.Clock.Sub(v.walk.Start.Clock).String()
	}
	return s
}

// fate is how a process ended.
func fate(how sched.Action) string {
	switch how {
	case sched.Kill:
		return "killed"
	case sched.PowerLoss:
		return "lost with the power"
	}
	return "exited"
}

func (v *viewer) inode(id fsfake.InodeID) string {
	if n := v.walk.Inodes.Of(id); n > 0 {
		return fmt.Sprintf("#%d", n)
	}
	return ""
}

func (v *viewer) file(f *trace.FileState) fileState {
	out := fileState{Name: v.walk.Names.Short(f.Path), Exists: f.Exists}
	if !f.Exists {
		return out
	}
	content := v.walk.Quote(f.Content, 120)
	switch {
	case f.Kind == fsfake.KindDir:
		content = strings.Join(f.Names, " ") + "/"
	case f.Kind == fsfake.KindSymlink:
		content = "→ " + f.Target
	case f.Kind == fsfake.KindFIFO, f.Kind == fsfake.KindSocket:
		content = f.Kind.String()
	case f.Content == "":
		content = "empty"
	}
	out.Inode.Text, out.Content.Text, out.Links.Text = v.inode(f.ID), content, fmt.Sprint(f.Nlink)
	out.Openers.Text = v.refs(f.Openers)
	var locks []string
	for _, l := range f.Flocks {
		locks = append(locks, "flock "+mode(l.Mode == fsfake.LOCK_EX)+" "+v.refs(l.Holders))
	}
	for _, l := range f.Records {
		kind, who := "record", v.walk.Who(l.Lock.Pid)
		if l.OFD {
			kind, who = "OFD", v.refs(l.Holders)
		}
		locks = append(locks, fmt.Sprintf("%s %s %s", kind, mode(l.Lock.Type == fsfake.F_WRLCK), who))
	}
	out.Locked.Text = strings.Join(locks, ", ")
	return out
}

func mode(exclusive bool) string {
	if exclusive {
		return "exclusive"
	}
	return "shared"
}

// refs names descriptors: "A 3, B 4".
func (v *viewer) refs(all []fsfake.FDRef) string {
	out := lists.Map(all, func(r fsfake.FDRef) string { return fmt.Sprintf("%s fd %d", v.walk.Who(r.Pid), r.FD) })
	return strings.Join(out, ", ")
}

func (v *viewer) fd(pid int, f *trace.FDState) fdState {
	out := fdState{
		Owner: v.walk.Who(pid), Pid: pid, FD: f.FD,
		Inode: v.inode(f.ID), Offset: fmt.Sprint(f.Offset), Unnamed: len(f.Paths) == 0,
		Mode: [...]string{"r", "w", "rw", "?"}[f.Flags&(os.O_WRONLY|os.O_RDWR)],
	}
	if f.Flags&fsfake.O_APPEND != 0 {
		out.Mode += " append"
	}
	names := lists.Map(f.Paths, func(p string) string { return v.walk.Names.Short(p) })
	out.Name = strings.Join(names, ", ")
	if f.Flock != 0 {
		out.Lock = mode(f.Flock == fsfake.LOCK_EX)
	}
	return out
}

// compare marks what is different after the step before.
func (s *state) compare(before *state) {
	for i := range s.Files {
		f, b := &s.Files[i], &before.Files[i]
		for _, pair := range [][2]*text{
			{&f.Inode, &b.Inode}, {&f.Content, &b.Content}, {&f.Links, &b.Links},
			{&f.Openers, &b.Openers}, {&f.Locked, &b.Locked},
		} {
			pair[0].Changed = pair[0].Text != pair[1].Text
		}
		f.Inode.Changed = f.Inode.Changed || f.Exists != b.Exists
	}
	for i := range s.FDs {
		f := &s.FDs[i]
		f.New = true
		for k := range before.FDs {
			b := before.FDs[k]
			b.New = true
			f.New = f.New && *f != b
		}
	}
	for i := range s.Cells {
		c := &s.Cells[i].Value
		c.Changed = i >= len(before.Cells) || before.Cells[i].Value.Text != c.Text
	}
}
