package explain

import (
	"fmt"
	"os"
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
	files  []trace.FileState // after the step before
	fds    map[fdKey]fdOn
	looks  map[lookKey]look
	// changes of what stands at each watched name, oldest first.
	changes map[string][]change
	// made: who created each name, watched or not, that still stands.
	made    map[string]change
	stale   []use
	blind   []use
	refused map[sched.Task]refusal
	waiting map[sched.Task]fdOn // for a lock on what, in its last call
	joined  *trace.Step         // the last acquisition that joined a hold of the same process
	kills   []trace.Step
	stalls  []trace.Step
	lost    string // what a loss of power did to the watched files
	last    *trace.Step
}

type fdKey struct{ process, fd int }

// fdOn is what a descriptor is open on, and the call that opened it.
type fdOn struct {
	path  string
	inode fsfake.InodeID
	look  look
	used  bool // after its name was gone
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
	fd     int // the descriptor it got, or -1
}

// A change is one task's change of what stands at a name.
type change struct {
	step int
	task sched.Task
	text string
	// identity: another file stands there than before, or none.
	identity bool
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
}

func newStory(sc *scenarios.Scenario, tr trace.Trace) *story {
	first := trace.FilesAtFirst(sc)
	s := &story{
		names: trace.NamesOf(sc), inodes: trace.NumberInodes(first, tr), files: first,
		fds: map[fdKey]fdOn{}, looks: map[lookKey]look{}, changes: map[string][]change{},
		made: map[string]change{}, refused: map[sched.Task]refusal{}, waiting: map[sched.Task]fdOn{},
	}
	for i := range tr {
		s.step(&tr[i])
	}
	return s
}

// step takes in one step of the trace.
func (s *story) step(st *trace.Step) {
	s.last = st
	switch st.Choice.Action {
	case sched.Kill:
		s.kills = append(s.kills, *st)
	case sched.Stall:
		s.stalls = append(s.stalls, *st)
	case sched.PowerLoss:
		s.lost = s.lossText(st)
	default:
		delete(s.waiting, st.Choice.Task)
		for _, c := range st.Calls {
			if on, ok := s.fds[fdKey{st.Choice.Task.Process, c.Op.FD}]; ok && c.Result.Blocked {
				s.waiting[st.Choice.Task] = on
			}
			switch {
			case c.Result.Blocked || c.Result.Unmodelled != "" || c.Op.Call.IsCell():
			case c.Op.Path != "" || c.Op.Path2 != "":
				s.byName(st, c)
			default:
				s.byDescriptor(st, c)
			}
		}
		if a, ok := st.Returned.(model.Acquired); ok && a.OK {
			s.acquired(st, a.Shared)
		}
	}
	s.files = st.Files
}

// file returns the states of a watched name before and after a step, or nil.
func (s *story) file(st *trace.Step, p string) (before, after *trace.FileState) {
	for i := range st.Files {
		if st.Files[i].Path == p {
			return &s.files[i], &st.Files[i]
		}
	}
	return nil, nil
}

// byName takes in a call that names files.
func (s *story) byName(st *trace.Step, c trace.Call) {
	t := st.Choice.Task
	s.make(st, c)
	for _, p := range []string{c.Op.Path2, c.Op.Path} {
		before, after := s.file(st, p)
		if before == nil {
			continue
		}
		if text, changed := s.changeText(before, after, c.Op); changed {
			ch := change{st.N, t, text, before.Exists != after.Exists || before.ID != after.ID}
			if before.Exists {
				s.use(st, p, s.looks[lookKey{t, p}], use{text: text, identity: ch.identity})
			}
			s.changes[p] = append(s.changes[p], ch)
		}
		l := look{since: st.N, step: st.N, text: s.lookText(c, before, after), fd: -1}
		if c.Op.Call == fsfake.CallOpen && c.Result.OK() {
			l.fd = int(c.Result.N)
			s.fds[fdKey{t.Process, l.fd}] = fdOn{path: p, inode: after.ID, look: l}
		}
		s.looks[lookKey{t, p}] = l
	}
}

// make notes which names a call made, and which it took away.
func (s *story) make(st *trace.Step, c trace.Call) {
	if !c.Result.OK() {
		return
	}
	text := fmt.Sprintf("created %s at step %d", s.names.Short(c.Op.Path), st.N)
	switch c.Op.Call {
	case fsfake.CallOpen:
		if _, known := s.made[c.Op.Path]; known || c.Op.Flags&os.O_CREATE == 0 || c.Op.Flags&os.O_EXCL == 0 {
			return
		}
	case fsfake.CallMkdir:
	case fsfake.CallUnlink, fsfake.CallRmdir:
		delete(s.made, c.Op.Path)
		return
	default:
		return
	}
	s.made[c.Op.Path] = change{step: st.N, task: st.Choice.Task, text: text}
}

// changeText says what a step did to what stands at a name, in the past tense and
// without its subject; changed is false when it did nothing.
func (s *story) changeText(before, after *trace.FileState, op fsfake.Op) (text string, changed bool) {
	switch {
	case !before.Exists && !after.Exists:
		return "", false
	case !before.Exists:
		return "created " + s.inode(after.ID), true
	case !after.Exists && op.Call == fsfake.CallRename:
		return "renamed " + s.inode(before.ID) + " away", true
	case !after.Exists:
		return "unlinked " + s.inode(before.ID), true
	case before.ID != after.ID:
		return "put " + s.inode(after.ID) + " in the place of " + s.inode(before.ID), true
	case before.Content != after.Content && after.Content == "":
		return "emptied " + s.inode(after.ID), true
	case before.Content != after.Content:
		return "wrote to " + s.inode(after.ID), true
	case op.Call == fsfake.CallOpen && op.Flags&os.O_TRUNC != 0:
		return "truncated " + s.inode(after.ID), true
	}
	return "", false
}

func (s *story) inode(id fsfake.InodeID) string { return fmt.Sprintf("inode %d", s.inodes.Of(id)) }

// lookText says what a call told about a name.
func (s *story) lookText(c trace.Call, before, after *trace.FileState) string {
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
	text, _ := s.changeText(before, after, c.Op)
	return text
}

// called names a file with its inode.
func (s *story) called(f *trace.FileState) string {
	return s.names.Short(f.Path) + " (" + s.inode(f.ID) + ")"
}

// byDescriptor takes in a call on a descriptor of a watched file.
func (s *story) byDescriptor(st *trace.Step, c trace.Call) {
	t := st.Choice.Task
	key := fdKey{t.Process, c.Op.FD}
	on, ok := s.fds[key]
	if !ok {
		return
	}
	before, after := s.file(st, on.path)
	here := after.Exists && after.ID == on.inode
	switch c.Op.Call {
	case fsfake.CallDup:
		s.fds[fdKey{t.Process, int(c.Result.N)}] = on
	case fsfake.CallClose:
		delete(s.fds, key)
	case fsfake.CallRead, fsfake.CallPread:
		s.read(st, c, on)
	case fsfake.CallWrite, fsfake.CallPwrite, fsfake.CallFtruncate:
		if !here {
			s.orphan(st, key, "wrote to")
		} else if text, changed := s.changeText(before, after, c.Op); changed {
			s.use(st, on.path, on.look, use{text: text})
			s.changes[on.path] = append(s.changes[on.path], change{step: st.N, task: t, text: text})
		}
	case fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallOFDSetlk:
		switch {
		case !c.Result.OK() && here:
			s.refused[t] = refusal{st.N, *after}
		case !here && c.Op.Flags&fsfake.LOCK_UN == 0:
			s.orphan(st, key, "locked")
		}
	}
}

// read makes the text that was read part of the look that opened the file.
func (s *story) read(st *trace.Step, c trace.Call, on fdOn) {
	k := lookKey{st.Choice.Task, on.path}
	l := s.looks[k]
	if !c.Result.OK() || l.fd != c.Op.FD {
		return
	}
	name := s.names.Short(on.path) + " (" + s.inode(on.inode) + ")"
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
func (s *story) orphan(st *trace.Step, key fdKey, verb string) {
	on := s.fds[key]
	if on.used {
		return
	}
	on.used = true
	s.fds[key] = on
	s.use(st, on.path, on.look, use{
		text: verb + " " + s.inode(on.inode), after: ", which " + path.Base(on.path) + " no longer leads to",
	})
}

// acquired takes in an acquisition: of a lock object that has lost its name, perhaps.
func (s *story) acquired(st *trace.Step, shared bool) {
	if shared {
		s.joined = st
	}
	for _, f := range st.Files {
		l, looked := s.looks[lookKey{st.Choice.Task, f.Path}]
		if !looked || l.fd < 0 {
			continue
		}
		key := fdKey{st.Choice.Task.Process, l.fd}
		if on, open := s.fds[key]; open && (!f.Exists || f.ID != on.inode) {
			s.orphan(st, key, "took the lock with")
		}
	}
}

// use notes a call that relies on a look, when others have changed the name since.
func (s *story) use(st *trace.Step, p string, l look, u use) {
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
