package anynumber

import (
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// A step is what can happen: a configuration, and whether an assertion failed on the way there.
type step struct {
	Config
	failed bool
}

// next visits what can happen when a full process makes a step, or is killed.
func (s *System) next(c *Config, pid int, visit func(step)) {
	p := c.proc(pid)
	if p.Dead {
		return
	}
	if s.sc.Setting.Crashes > 0 {
		s.ends(c, pid, visit)
	}
	nd := s.a.Node(p.Place.Node)
	if p.Place.Node == learn.Ended || nd.Ended {
		if !s.sc.Setting.Daemons {
			s.ends(c, pid, visit)
		}
		return
	}
	if s.why == "" {
		s.calls = p.Place.Node
	}
	op := s.called(p, nd.Op)
	before := nd.Begins
	if before.By != (fsfake.Task{}) || before.OfFirst {
		s.refuse("somebody else makes a call for the process")
	}
	failed := before.Failed != "" && !p.Place.Begun
	if op.Call.Ends() {
		s.ends(c, pid, func(e step) { visit(step{e.Config, failed}) })
		return
	}
	if s.why != "" {
		return
	}
	m := c.machine(s.kind, s.rest)
	s.directories(m, op)
	r := m.Do(fsfake.Task{Pid: pid, N: 1}, op)
	switch {
	case r.Unmodelled != "":
		s.refuse(r.Unmodelled)
		return
	case r.Blocked:
		if !op.Call.IsLock() {
			s.refuse("a call waits that asks for no lock: " + op.String())
		}
		return // as if it had not asked yet
	}
	d := s.after(c, m, pid)
	if s.why != "" {
		return
	}
	if before.LetGo && !p.Place.Begun {
		lock, _ := model.LockOf(before.Input)
		d.proc(pid).letGo(lock)
	}
	s.answered(&d, pid, nd.Op, r, failed, visit)
	if s.reuses && r.Stat.Ino != 0 {
		s.sameNumber(c, &d, pid, r, func(e Config, r fsfake.Result) { s.answered(&e, pid, nd.Op, r, failed, visit) })
	}
}

// ends visits the configuration in which a process has ended, or was killed.
func (s *System) ends(c *Config, pid int, visit func(step)) {
	m := c.machine(s.kind, s.rest)
	m.KillProc(pid)
	if d := s.after(c, m, pid); s.why == "" {
		visit(step{Config: d})
	}
}

// after is a configuration after a call of a process: the machine's files and processes, and what is known beside.
func (s *System) after(c *Config, m *fsfake.Machine, by int) Config {
	snap, err := m.Snapshot()
	if err != nil {
		s.refuse("it needs " + err.Error())
		return c.clone()
	}
	s.hides(m, &snap)
	d := Config{Inside: c.Inside}
	for _, n := range snap.Inodes {
		i := Inode{SnapshotInode: n}
		if was := c.inode(n.ID); was != nil {
			i.Maker = was.Maker
		} else if s.makers {
			i.Maker = by
		}
		if i.Maker != 0 && len(pidsIn(n.Data)) > 0 {
			i.Maker = 0 // whoever matters is in the text
		}
		d.Inodes = append(d.Inodes, i)
	}
	for i := range c.Procs {
		p := c.Procs[i]
		at := slices.IndexFunc(snap.Procs, func(o fsfake.SnapshotProc) bool { return o.Pid == p.Pid })
		switch {
		case at >= 0:
			p.SnapshotProc = snap.Procs[at]
		case !p.Dead:
			p.Dead, p.Place = true, Place{Node: learn.Gone}
			p.FDs, p.Seen, p.Records, p.Cwd, p.Pinned = nil, nil, nil, 0, false
			for j := range d.Inodes {
				if d.Inodes[j].Maker == p.Pid {
					d.Inodes[j].Maker = 0
				}
			}
		}
		d.Procs = append(d.Procs, p)
	}
	return d
}

// answered visits where the program goes on after an answer to the call asked, which is as the automaton has it.
func (s *System) answered(d *Config, pid int, asked fsfake.Op, r fsfake.Result, failed bool, visit func(step)) {
	c := d.clone()
	p := c.proc(pid)
	at := p.Place
	p.Place.Told = slices.Clone(at.Told)
	told := func(q int) int {
		if q == pid {
			return low
		}
		k := slices.Index(p.Place.Told, q)
		if k < 0 {
			k = len(p.Place.Told)
			p.Place.Told = append(p.Place.Told, q)
		}
		if k+1 >= scenarios.MaxProcesses {
			s.refuse("a process is told of ever more others")
			return low
		}
		return low + 1 + k
	}
	r.Data = renamed(r.Data, told)
	r = retold(asked.Call, r, told)
	if !s.sizes {
		r.Stat.Size, r.Stat.Nlink = 0, 0
	}
	if s.why != "" {
		return
	}
	via := edge{at.Node, s.intern(r)}
	e, err := s.a.Learn(at.Node, via.result)
	if err != nil {
		s.refuse(err.Error())
		return
	}
	s.seesNothing(e.Effects)
	p.Place.Node, p.Place.Begun = e.To&^learn.Begun, e.To&learn.Begun != 0
	s.remember(via, p)
	s.forget(&c, pid, via, &e)
	if out, ok := e.Effects.Output.(model.Acquired); ok && e.Effects.Returned && out.OK && (!e.Effects.Holds ||
		out.Shared) {
		s.refuse("a lock is joined, or acquired without a note of it")
	}
	if s.reuses {
		c.apart(d, pid)
	}
	if e.Effects.Holds {
		c.holds(s, pid, e.Effects.Holding)
	}
	if s.why == "" {
		visit(step{Config: c, failed: failed || e.Effects.Failed != ""})
	}
}

// Most calls look and change nothing. Nobody else can tell that such a step was made: the caller's view becomes what
// the call makes of it, and all other views stay as they are. So where views have one process, the step is made in that
// view alone, and needs no configuration of two.

// alone makes the steps of the process of a view that nobody else can tell, and notes whether it has others.
func (x *search) alone(v *seenView) {
	if x.bad(&v.Config) {
		x.out = Spurious
	}
	if x.how.K > 1 || x.how.Names || x.stopped() {
		return
	}
	for _, pid := range v.full() {
		x.next(&v.Config, pid, func(d step) {
			switch {
			case !unnoticed(&v.Config, &d.Config, pid):
				x.loud[v.Key] = true
			case d.failed && x.asserts || x.bad(&d.Config):
				x.out = Spurious
			default:
				x.add(&d.Config)
			}
		})
	}
}

// quiet reports whether all steps of the process of a view have been made in the view alone.
func (x *search) quiet(v *seenView) bool { return x.how.K == 1 && !x.how.Names && !x.loud[v.Key] }

// unnoticed reports whether a step has changed nothing but what only its process has: where it is in its program,
// its descriptors, and what it remembers.
func unnoticed(was, is *Config, pid int) bool {
	p, q := was.proc(pid), is.proc(pid)
	if q.Dead || !slices.Equal(p.Place.Holds, q.Place.Holds) {
		return false
	}
	for i := range was.Inodes {
		m := &was.Inodes[i]
		n := is.inode(m.ID)
		if was.lockers(m.ID) != is.lockers(m.ID) || n == nil && m.Nlink > 0 || n != nil && !sameInode(m, n) {
			return false
		}
	}
	for i := range is.Inodes {
		if was.inode(is.Inodes[i].ID) == nil {
			return false
		}
	}
	return true
}

func sameInode(m, n *Inode) bool {
	return m.Mode == n.Mode && m.UID == n.UID && m.GID == n.GID && m.Nlink == n.Nlink && m.Data == n.Data &&
		m.Parent == n.Parent && m.Times == n.Times && m.Maker == n.Maker && slices.Equal(m.Names, n.Names)
}

// holding reports whether a full process holds a lock.
func (c *Config) holding() bool {
	return slices.ContainsFunc(c.Procs, func(p Proc) bool { return len(p.Place.Holds) > 0 })
}
