package explain

import (
	"fmt"
	"path"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A story follows a trace and keeps what matters for its cause: who has last seen what
// of each name, who changed it since, and which calls relied on it all the same.
type story struct {
	names  trace.Names
	inodes trace.Inodes
	walk   *trace.Walk
	files  []trace.FileState // after the step before
	// opens are the opens of watched files, by step.
	opens map[int]*opening
	looks map[lookKey]look
	// changes of what stands at each watched name, oldest first.
	changes map[string][]change
	// made: who created each name, watched or not, that still stands.
	made    map[string]change
	stale   []use
	blind   []use
	refused map[sched.Task]refusal
	joined  *trace.Walked // the last acquisition that joined a hold of the same process
	kills   []trace.Walked
	stalls  []trace.Walked
	lost    string // what a loss of power did to the watched files
	last    *trace.Walked
}

// An opening is what a task saw when it opened a watched file.
type opening struct {
	look look
	used bool // after its name was gone
}

type lookKey struct {
	task sched.Task
	path string
}

// A look is the last that a task has seen of a name.
type look struct {
	// since is the step after which a change makes it stale: for a read, that of the open.
	since int
	step  int // the step that a person is pointed to
	text  string
	// opened is the text before a read of the file became part of it.
	opened string
	open   int // the step, when it was an open, or 0
}

// A change is one task's change of what stands at a name.
type change struct {
	kind trace.ChangeKind
	step int
	task sched.Task
	verb string // in the past tense
	what string
	// identity: another file stands there than before, or none.
	identity bool
}

// text is a change without its subject: "wrote to inode 1".
func (c change) text() string { return c.verb + " " + c.what }

// had is what follows "had": "written to inode 1".
func (c change) had() string {
	if c.verb == "wrote" {
		return "written " + c.what
	}
	return c.text()
}

// A use is a call that relies on a look.
type use struct {
	step    int
	task    sched.Task
	look    look
	path    string
	between []change // by others, since the look
	text    string
	after   string // what to add after the step
	// identity: the call itself puts another file, or none, at the name.
	identity bool
}

// A refusal is a kernel lock that was not granted.
type refusal struct {
	step int
	file trace.FileState
	by   []fsfake.FDRef
}

func newStory(sc *scenarios.Scenario, tr trace.Trace) *story {
	w := trace.NewWalk(sc, tr)
	s := &story{
		names: w.Names, inodes: w.Inodes, walk: w, files: w.Start.Files,
		opens: map[int]*opening{}, looks: map[lookKey]look{}, changes: map[string][]change{},
		made: map[string]change{}, refused: map[sched.Task]refusal{},
	}
	for i := range w.Steps {
		s.step(&w.Steps[i])
	}
	return s
}

// step takes in one step of the trace.
func (s *story) step(st *trace.Walked) {
	s.last = st
	switch st.Choice.Action {
	case sched.Kill:
		s.kills = append(s.kills, *st)
	case sched.Stall:
		s.stalls = append(s.stalls, *st)
	case sched.PowerLoss:
		s.lost = s.lossText(st)
	default:
		for i, c := range st.Calls {
			switch {
			case c.Result.Blocked || c.Result.Unmodelled != "" || c.Op.Call.IsCell():
			case c.Op.Path != "" || c.Op.Path2 != "":
				s.byName(st, c)
			case len(st.Targets[i]) > 0:
				s.byDescriptor(st, c, st.Targets[i][0])
			}
		}
		if a, ok := st.Returned.(model.Acquired); ok && a.OK {
			s.acquired(st, a.Shared)
		}
	}
	s.files = st.After.Files
}

// file returns the states of a watched name before and after a step, or nil.
func (s *story) file(st *trace.Walked, p string) (before, after *trace.FileState) {
	for i := range st.After.Files {
		if st.After.Files[i].Path == p {
			return &s.files[i], &st.After.Files[i]
		}
	}
	return nil, nil
}

// byName takes in a call that names files.
func (s *story) byName(st *trace.Walked, c trace.Call) {
	t := st.Choice.Task
	s.make(st, c)
	for _, p := range []string{c.Op.Path2, c.Op.Path} {
		before, after := s.file(st, p)
		if before == nil {
			continue
		}
		ch, changed := s.changeOf(st, p)
		if changed {
			if before.Exists {
				s.use(st, p, s.looks[lookKey{t, p}], use{text: ch.text(), identity: ch.identity})
			}
			s.changes[p] = append(s.changes[p], ch)
		}
		l := look{since: st.N, step: st.N, text: s.lookText(c, before, after, ch)}
		if c.Op.Call == fsfake.CallOpen && c.Result.OK() {
			l.open = st.N
			s.opens[st.N] = &opening{look: l}
		}
		s.looks[lookKey{t, p}] = l
	}
}

// make notes which names a call made, and which it took away.
func (s *story) make(st *trace.Walked, c trace.Call) {
	if !c.Result.OK() {
		return
	}
	switch c.Op.Call {
	case fsfake.CallOpen:
		if _, known := s.made[c.Op.Path]; known || c.Op.Flags&fsfake.O_CREAT == 0 || c.Op.Flags&fsfake.O_EXCL == 0 {
			return
		}
	case fsfake.CallMkdir:
	case fsfake.CallUnlink, fsfake.CallRmdir:
		delete(s.made, c.Op.Path)
		return
	default:
		return
	}
	what := fmt.Sprintf("%s at step %d", s.names.Short(c.Op.Path), st.N)
	s.made[c.Op.Path] = change{kind: trace.Created, step: st.N, task: st.Choice.Task, verb: "created", what: what}
}

// changeOf says what a step did to what stands at a name; it is false when it did nothing.
func (s *story) changeOf(st *trace.Walked, p string) (change, bool) {
	for i := range st.Changes {
		if c := &st.Changes[i]; c.Path == p {
			verb, what := s.changeText(c)
			return change{c.Kind, st.N, c.By, verb, what, c.Identity()}, verb != ""
		}
	}
	return change{}, false
}

// changeText says what became of a name, in the past tense and without its subject.
func (s *story) changeText(c *trace.Change) (verb, what string) {
	switch c.Kind {
	case trace.Created, trace.Linked, trace.RenamedHere:
		return "created", s.inode(c.After.ID)
	case trace.RenamedAway:
		return "renamed", s.inode(c.Before.ID) + " away"
	case trace.Unlinked:
		return "unlinked", s.inode(c.Before.ID)
	case trace.Replaced:
		return "put", s.inode(c.After.ID) + " in the place of " + s.inode(c.Before.ID)
	case trace.Emptied:
		return "emptied", s.inode(c.After.ID)
	case trace.Wrote:
		return "wrote", "to " + s.inode(c.After.ID)
	case trace.Truncated:
		return "truncated", s.inode(c.After.ID)
	}
	return "", ""
}

func (s *story) inode(id fsfake.InodeID) string { return fmt.Sprintf("inode %d", s.inodes.Of(id)) }

// lookText says what a call told about a name.
func (s *story) lookText(c trace.Call, before, after *trace.FileState, ch change) string {
	switch {
	case !before.Exists && !after.Exists:
		return "found no " + s.names.Short(after.Path)
	case c.Op.Call == fsfake.CallOpen && !before.Exists:
		return "created " + s.called(after)
	case c.Op.Call == fsfake.CallOpen && c.Result.OK():
		return "opened " + s.called(after)
	case !c.Result.OK():
		return "met " + s.called(before)
	case c.Op.Call == fsfake.CallStat || c.Op.Call == fsfake.CallLstat:
		return "saw " + s.called(after)
	}
	if ch.verb == "" {
		return ""
	}
	return ch.text()
}

// called names a file with its inode.
func (s *story) called(f *trace.FileState) string {
	return s.names.Short(f.Path) + " (" + s.inode(f.ID) + ")"
}

// byDescriptor takes in a call on a descriptor of a watched file.
func (s *story) byDescriptor(st *trace.Walked, c trace.Call, on trace.Target) {
	o := s.opens[on.Opened.Step]
	if o == nil {
		return
	}
	switch c.Op.Call {
	case fsfake.CallRead, fsfake.CallPread:
		s.read(st, c, on)
	case fsfake.CallWrite, fsfake.CallPwrite, fsfake.CallFtruncate:
		if !on.AtName() {
			s.orphan(st, on, "wrote to")
		} else if ch, changed := s.changeOf(st, on.Path); changed {
			s.use(st, on.Path, o.look, use{text: ch.text()})
			s.changes[on.Path] = append(s.changes[on.Path], ch)
		}
	case fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallOFDSetlk:
		switch {
		case !c.Result.OK() && on.AtName():
			s.refused[st.Choice.Task] = refusal{st.N, on.After, st.After.InTheWay(st.Choice.Task, c.Op)}
		case !on.AtName() && c.Op.Flags&fsfake.LOCK_UN == 0:
			s.orphan(st, on, "locked")
		}
	}
}

// read makes the text that was read part of the look that opened the file.
func (s *story) read(st *trace.Walked, c trace.Call, on trace.Target) {
	k := lookKey{st.Choice.Task, on.Path}
	l := s.looks[k]
	if !c.Result.OK() || l.open != on.Opened.Step {
		return
	}
	name := s.names.Short(on.Path) + " (" + s.inode(on.ID) + ")"
	l.step = st.N
	if l.opened == "" {
		l.opened = l.text
	}
	switch data := c.Result.Data; {
	case data == "":
		l.text = "found " + name + " empty"
	case len(data) <= 16:
		l.text = fmt.Sprintf("read %q from %s", data, name)
	default:
		l.text = "read " + name
	}
	s.looks[k] = l
}

// orphan notes the first use of a descriptor whose file no longer stands at its name.
func (s *story) orphan(st *trace.Walked, on trace.Target, verb string) {
	o := s.opens[on.Opened.Step]
	if o.used {
		return
	}
	o.used = true
	s.use(st, on.Path, o.look, use{
		text: verb + " " + s.inode(on.ID), after: ", which " + path.Base(on.Path) + " no longer leads to",
	})
}

// acquired takes in an acquisition: of a lock object that has lost its name, perhaps.
func (s *story) acquired(st *trace.Walked, shared bool) {
	if shared {
		s.joined = st
	}
	for _, f := range st.After.Files {
		l := s.looks[lookKey{st.Choice.Task, f.Path}]
		on, open := openFrom(st, l.open)
		if open && (!f.Exists || f.ID != on.ID) {
			s.orphan(st, trace.Target{Path: f.Path, ID: on.ID, Opened: on.Opened}, "took the lock with")
		}
	}
}

// openFrom finds a descriptor of the process that steps which the open of a step has made.
func openFrom(st *trace.Walked, step int) (trace.FDState, bool) {
	for _, p := range st.After.Procs {
		for _, d := range p.FDs {
			if p.Pid == trace.PidOf(st.Choice.Task) && d.Opened.Step == step && step > 0 {
				return d, true
			}
		}
	}
	return trace.FDState{}, false
}

// use notes a call that relies on a look, when others have changed the name since.
func (s *story) use(st *trace.Walked, p string, l look, u use) {
	u.step, u.task, u.path, u.look = st.N, st.Choice.Task, p, l
	for _, c := range s.changes[p] {
		if c.task != u.task && c.step > l.since {
			u.between = append(u.between, c)
		}
	}
	switch {
	case len(u.between) == 0:
	case l.since > 0:
		s.stale = append(s.stale, u)
	default:
		s.blind = append(s.blind, u)
	}
}
