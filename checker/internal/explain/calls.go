package explain

import (
	"path"
	"slices"
	"strings"
	"syscall"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// A use is a call that relies on a look.
type use struct {
	step int
	task sched.Task
	path string
	look *look
	// between are changes by others since the look.
	between []*change
	how     reliance
	call    fsfake.Op
	// change is what the call did to the name, for changed.
	change *trace.Change
	// file is what the call worked on, errno what it was told, for refusedBy.
	file  trace.FileState
	errno syscall.Errno
}

// call takes in one call: what relies on a look first, and then the look that it is.
func (s *story) call(st *trace.Walked, i int) {
	c := &st.Calls[i]
	switch {
	case c.Result.Blocked || c.Result.Unmodelled != "":
		return
	case c.Op.Call == fsfake.CallNow:
		s.clocks[st.Choice.Task] = append(s.clocks[st.Choice.Task], st.N)
	}
	s.judge(st, c)
	for k := range st.Targets[i] {
		if on := &st.Targets[i][k]; on.ByFD {
			s.byDescriptor(st, c, on)
		} else {
			s.byName(st, c, on)
		}
	}
}

// byName takes in a call that names a file.
func (s *story) byName(st *trace.Walked, c *trace.Call, on *trace.Target) {
	t, key := st.Choice.Task, lookKey{st.Choice.Task, on.Path}
	before := s.looks[key]
	ch := s.changeAt(st, on.Path)
	switch {
	case ch != nil && ch.Before.Exists && ch.Kind != trace.Touched:
		s.use(st, &use{look: before, path: on.Path, how: changed, change: ch, call: c.Op, file: on.Before})
	case ch == nil && c.Result.OK() && creates(&c.Op) && on.Before.Exists && before != nil && before.how == missing:
		s.use(st, &use{look: before, path: on.Path, how: tookOver, call: c.Op, file: on.Before})
	case c.Result.OK() || before == nil || looksOnly(c.Op.Call) || before.file.ID == on.Before.ID:
	case c.Result.Errno != syscall.ENOENT || !on.Before.Exists: // not by what is there
		s.use(st, &use{look: before, path: on.Path, how: refusedBy, call: c.Op, file: on.Before, errno: c.Result.Errno})
	}
	l := &look{task: t, path: on.Path, step: st.N, since: st.N, file: on.After}
	switch {
	case c.Op.Call == fsfake.CallOpen && c.Result.OK():
		l.how, l.open = opened, st.N
		if !on.Before.Exists {
			l.how = created
		}
		s.opens[st.N] = l
	case !on.Before.Exists && !on.After.Exists:
		l.how = missing
	case !c.Result.OK():
		l.how, l.file = met, on.Before
	case ch != nil && ch.Kind == trace.Created:
		l.how = created
	case ch != nil:
		l.how, l.did = acted, ch
	case c.Op.Call == fsfake.CallReadlink:
		l.how, l.text = read, c.Result.Data
	default:
		l.how, l.dated, l.ino = saw, true, c.Result.Stat.Ino
	}
	s.see(l)
}

// looksOnly reports calls by name that ask what is there, and rely on nothing.
func looksOnly(c fsfake.Call) bool {
	return c.Is(fsfake.Looks)
}

// creates reports whether an open would create a file, and takes one that is there.
func creates(op *fsfake.Op) bool {
	return op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0 && op.Flags&fsfake.O_EXCL == 0
}

// see remembers a look. What was asked about a file stays known while it is the same one.
func (s *story) see(l *look) {
	key := lookKey{l.task, l.path}
	if old := s.looks[key]; old != nil && l.file.Exists && old.file.Exists && old.file.ID == l.file.ID && l.how != acted {
		l.judged, l.dated = old.judged, l.dated || old.dated
		if l.how == saw || l.how == met || l.how == opened {
			l.prior = old.knowing()
		}
	}
	s.looks[key] = l
	s.all[l.task] = append(s.all[l.task], l)
	if l.file.Exists {
		s.recent[l.task] = l
	} else {
		s.missed[l.task] = append(s.missed[l.task], l.path)
	}
}

// byDescriptor takes in a call through a descriptor.
func (s *story) byDescriptor(st *trace.Walked, c *trace.Call, on *trace.Target) {
	o := s.opens[on.Opened.Step]
	if o == nil {
		return
	}
	switch is := c.Op.Call; {
	case is.Is(fsfake.Reads):
		s.read(st, c, on)
	case is == fsfake.CallReaddir:
		s.list(st, c, on)
	case is == fsfake.CallFstat:
		if l := s.looks[lookKey{st.Choice.Task, on.Path}]; l != nil && l.open == o.open {
			l.dated = true
		}
	case is.Is(fsfake.Writes | fsfake.Truncates):
		if !on.AtName() {
			s.lost(st, c, on, wroteLost)
		} else if ch := s.changeAt(st, on.Path); ch != nil && ch.Kind != trace.Truncated && ch.Kind != trace.Touched {
			if l := s.looks[lookKey{st.Choice.Task, on.Path}]; l != nil && (l.open == o.open || l.how == read && l.file.ID == on.ID && l.step > o.step) {
				o = l // also what was read by another descriptor
			}
			s.use(st, &use{look: o, path: on.Path, how: changed, change: ch, call: c.Op, file: on.Before})
		} else if ch == nil && c.Result.OK() && c.Op.Data != "" {
			s.wroteSame(st, c, on)
		}
	case is.Is(fsfake.Locks):
		if c.Result.OK() && !unlocks(&c.Op) && !on.AtName() {
			s.lost(st, c, on, lockedOld)
		}
	}
}

// unlocks reports whether a lock call gives a lock back.
func unlocks(op *fsfake.Op) bool {
	if op.Call == fsfake.CallFlock {
		return op.Flags&fsfake.LOCK_UN != 0
	}
	return op.Call.Is(fsfake.Records) && op.Flags == fsfake.F_UNLCK
}

// read makes the text that was read the look, which is as old as the open.
func (s *story) read(st *trace.Walked, c *trace.Call, on *trace.Target) {
	l := s.looks[lookKey{st.Choice.Task, on.Path}]
	if !c.Result.OK() || l == nil || l.open != on.Opened.Step {
		return
	}
	if l.how == read && l.text != "" && c.Op.Call == fsfake.CallRead && c.Result.Data == "" {
		return // the end of the file tells nothing, whatever has become of that since
	}
	r := *l
	r.how, r.step, r.text, r.prior = read, st.N, c.Result.Data, nil
	switch is := st.Before.Inode(on.ID).Content; {
	case l.how != read:
		r.opened = l
	case strings.HasPrefix(is, l.text+r.text) || !strings.HasPrefix(is, r.text):
		r.text = l.text + r.text // a further piece; otherwise it began anew, as tail does
	}
	r.file.FileView = st.Before.Inode(on.ID)
	s.see(&r)
}

// list takes in the names of a directory: of each that is ever there it tells whether it
// was there then.
func (s *story) list(st *trace.Walked, c *trace.Call, on *trace.Target) {
	if !c.Result.OK() {
		return
	}
	for _, p := range s.walk.Paths() {
		if path.Dir(p) != on.Path || p == on.Path {
			continue
		}
		l := &look{how: missing, task: st.Choice.Task, path: p, step: st.N, since: st.N, file: st.Before.File(p)}
		if l.file.Exists {
			l.how = listed
		}
		s.see(l)
	}
}

// lost notes the first use of a descriptor whose file no longer stands at its name.
func (s *story) lost(st *trace.Walked, c *trace.Call, on *trace.Target, how reliance) {
	if o := s.opens[on.Opened.Step]; o != nil && !s.orphan[o.open] {
		s.orphan[o.open] = true
		file := trace.FileState{Path: on.Path, Exists: true, FileView: st.Before.Inode(on.ID)}
		s.use(st, &use{look: o, path: on.Path, how: how, call: c.Op, file: file})
	}
}

// acquired takes in an acquisition: with a file that has lost its name, perhaps.
func (s *story) acquired(st *trace.Walked, shared bool) {
	if shared {
		s.joined = st
	}
	for _, p := range st.After.Procs {
		for _, d := range p.FDs {
			o := s.opens[d.Opened.Step]
			if p.Pid != trace.PidOf(st.Choice.Task) || o == nil || o.task != st.Choice.Task || slices.Contains(d.Paths, o.path) {
				continue
			}
			if f := st.After.File(o.path); f.Exists || s.everAt(o.path, d.ID) {
				s.lost(st, &trace.Call{}, &trace.Target{Path: o.path, ID: d.ID, Opened: d.Opened}, heldOld)
			}
		}
	}
}

// wroteSame notes a write of what stood in the file already: nothing has changed, and yet its
// task may not know what others have written there since it read the file.
func (s *story) wroteSame(st *trace.Walked, c *trace.Call, on *trace.Target) {
	me := st.Choice.Task
	for _, l := range slices.Backward(s.all[me]) {
		if l.path != on.Path || l.how != read || l.step >= st.N {
			continue
		}
		u := &use{step: st.N, task: me, path: on.Path, look: l, how: changed, call: c.Op, file: on.Before}
		for _, ch := range s.changes[on.Path] {
			if ch.By != me && ch.Step > l.step && ch.Kind == trace.Wrote {
				u.between = append(u.between, ch)
			}
		}
		if len(u.between) > 0 {
			s.same = append(s.same, u)
		}
		return
	}
}

// everAt reports whether an inode has stood at a name.
func (s *story) everAt(p string, id fsfake.InodeID) bool {
	f := s.walk.Start.File(p)
	return f.ID == id || slices.ContainsFunc(s.changes[p], func(c *change) bool { return c.After.ID == id })
}

// use notes a call that relies on a look, when others have changed the name since.
func (s *story) use(st *trace.Walked, u *use) {
	u.step, u.task = st.N, st.Choice.Task
	for _, c := range s.changes[u.path] {
		since := 0
		switch {
		case u.look == nil:
		case c.Identity():
			since = u.look.since
		default: // what was read later shows it
			since = u.look.step
		}
		if c.By != u.task && c.Step > since && c.Kind != trace.Touched && c.Kind != trace.Truncated {
			u.between = append(u.between, c)
		}
	}
	switch {
	case len(u.between) == 0:
	case u.how == refusedBy:
		s.refusals = append(s.refusals, u)
	case u.look != nil:
		s.stale = append(s.stale, u)
	default:
		s.blind = append(s.blind, u)
	}
}

// changeAt finds what the step did to a name, or nil.
func (s *story) changeAt(st *trace.Walked, p string) *trace.Change {
	for i := range st.Changes {
		if st.Changes[i].Path == p {
			return &st.Changes[i]
		}
	}
	return nil
}
