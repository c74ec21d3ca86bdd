package anynumber

import (
	"maps"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/internal/lists"
)

// A gluing joins two views v and w: that of all but a new process of w, and that of all but one of v. It enumerates
// who of w is who of v, and which file is which. It may be too generous, for whatever it makes is projected back; it
// must never leave out what can be.
type gluing struct {
	v, w         *Config
	a, b         int // a is in v only, b in w only
	pids, whose  map[int]int
	files, which map[fsfake.InodeID]fsfake.InodeID
	without      int // for tests: the rule that is left out
	visit        func(Config)
}

func (g *gluing) copy() *gluing {
	c := *g
	c.pids, c.whose, c.files, c.which = maps.Clone(g.pids), maps.Clone(g.whose), maps.Clone(g.files), maps.Clone(g.which)
	return &c
}

// pid takes process q of w for p of v.
func (g *gluing) pid(p, q int) bool {
	if x, ok := g.pids[q]; ok {
		return x == p
	}
	if _, ok := g.whose[p]; ok || p == g.a && q == g.b || g.v.proc(p).Dead != g.w.proc(q).Dead {
		return false
	}
	g.pids[q], g.whose[p] = p, q
	return true
}

// text compares a text of v with one of w: whoever they name are the same.
func (g *gluing) text(a, b string) bool {
	ps, qs := pidsIn(a), pidsIn(b)
	if len(ps) != len(qs) {
		return false
	}
	for i := range ps {
		if !g.pid(ps[i], qs[i]) {
			return false
		}
	}
	return renamed(b, func(q int) int { return g.pids[q] }) == a
}

// maybe is pid for those who may be nobody, 0.
func (g *gluing) maybe(p, q int) bool { return p == 0 && q == 0 || p != 0 && q != 0 && g.pid(p, q) }

// file takes file y of w for x of v, and what both lead to.
func (g *gluing) file(x, y fsfake.InodeID) bool {
	if z, ok := g.files[y]; ok {
		return z == x
	}
	if _, ok := g.which[x]; ok {
		return false
	}
	g.files[y], g.which[x] = x, y
	m, n := g.v.inode(x), g.w.inode(y)
	if m.Kind != n.Kind || m.Mode != n.Mode || m.Nlink != n.Nlink || m.UID != n.UID || m.GID != n.GID ||
		m.Times != n.Times ||
		!g.text(m.Data, n.Data) || !g.maybe(m.Maker, n.Maker) {
		return false
	}
	vs, ws := g.v.lockers(x), g.w.lockers(y)
	if !g.maybe(vs[0], ws[0]) || !g.maybe(vs[1], ws[1]) {
		return false
	}
	if n.Kind != fsfake.KindDir {
		return true
	}
	if x != root && !g.file(m.Parent, n.Parent) {
		return false
	}
	ms, ns := plain(m.Names), plain(n.Names)
	if len(ms) != len(ns) {
		return false
	}
	for i := range ms {
		if ms[i].Name != ns[i].Name || !g.file(ms[i].Inode, ns[i].Inode) {
			return false
		}
	}
	return true
}

// plain are the names that hold no pids.
func plain(all []fsfake.SnapshotName) []fsfake.SnapshotName {
	return lists.Filter(all, func(e fsfake.SnapshotName) bool { return len(pidsIn(e.Name)) == 0 })
}

// common takes a full process that is in both views for one.
func (g *gluing) common(p, q int) bool {
	x, y := g.v.proc(p), g.w.proc(q)
	if !g.pid(p, q) || x.Place.Node != y.Place.Node || len(x.Place.Told) != len(y.Place.Told) ||
		len(x.FDs) != len(y.FDs) ||
		len(x.Seen) != len(y.Seen) || len(x.Place.Holds) != len(y.Place.Holds) {
		return false
	}
	for i, t := range x.Place.Told {
		if !g.pid(t, y.Place.Told[i]) {
			return false
		}
	}
	same := func(a, b fsfake.InodeID) bool { return a <= 0 && a == b || a > 0 && b > 0 && g.file(a, b) }
	for i, f := range x.FDs {
		if f.FD != y.FDs[i].FD || !same(f.Inode, y.FDs[i].Inode) {
			return false
		}
	}
	for i, id := range x.Seen {
		if !same(id, y.Seen[i]) {
			return false
		}
	}
	for i, h := range x.Place.Holds {
		if !same(h.Inode, y.Place.Holds[i].Inode) {
			return false
		}
	}
	return x.Dead || same(x.Cwd, y.Cwd)
}

// glue visits the configurations that both views may be of. shared pairs who are full in both.
func (g *gluing) glue(shared [][2]int) {
	if !g.file(root, root) {
		return
	}
	for _, s := range shared {
		if !g.common(s[0], s[1]) {
			return
		}
	}
	g.processes(0)
}

// processes decides who the other processes of w are: somebody of v, or nobody.
func (g *gluing) processes(at int) {
	for at < len(g.w.Procs) && g.pids[g.w.Procs[at].Pid] != 0 {
		at++
	}
	if at == len(g.w.Procs) {
		if h := g.copy(); h.pidNames() {
			h.rest(0)
		}
		return
	}
	q := &g.w.Procs[at]
	g.copy().fresh(q.Pid, at)
	for i := range g.v.Procs {
		p := &g.v.Procs[i]
		if g.whose[p.Pid] != 0 || p.Full && q.Full ||
			g.without == 3 && (p.Full || q.Full) || g.without == 4 && !p.Full && !q.Full {
			continue
		}
		if h := g.copy(); h.pid(p.Pid, q.Pid) {
			h.processes(at + 1)
		}
	}
}

// fresh gives a process of w that is nobody of v a pid that v has not.
func (g *gluing) fresh(q, at int) {
	for p := low; ; p++ {
		if p >= low+maxNamed {
			g.visit(Config{why: "more processes are named at a time than there are pids for"})
			return
		}
		if g.v.proc(p) == nil && g.whose[p] == 0 {
			g.pids[q], g.whose[p] = p, q
			break
		}
	}
	g.processes(at + 1)
}

// pidNames takes files for one whose names hold the pid of one process.
func (g *gluing) pidNames() bool {
	for i := range g.w.Inodes {
		n := &g.w.Inodes[i]
		m := g.v.inode(g.files[n.ID])
		if m == nil {
			continue
		}
		for _, e := range n.Names {
			if len(pidsIn(e.Name)) == 0 {
				continue
			}
			as := renamed(e.Name, func(q int) int { return g.pids[q] })
			for _, o := range m.Names {
				if o.Name == as && !g.file(o.Inode, e.Inode) {
					return false
				}
			}
		}
	}
	return true
}

// rest decides which the other files of w are: one of v, or a new one. The processes are decided.
func (g *gluing) rest(at int) {
	for at < len(g.w.Inodes) && g.files[g.w.Inodes[at].ID] != 0 {
		at++
	}
	if at == len(g.w.Inodes) {
		g.build()
		return
	}
	y := g.w.Inodes[at].ID
	if g.without != 2 {
		h := g.copy()
		x := fsfake.InodeID(len(g.v.Inodes) + 1)
		for h.which[x] != 0 {
			x++
		}
		h.files[y], h.which[x] = x, y
		h.rest(at + 1)
	}
	for i := range g.v.Inodes {
		x := g.v.Inodes[i].ID
		if g.which[x] != 0 || g.without == 1 {
			continue
		}
		if h := g.copy(); h.file(x, y) {
			h.rest(at + 1)
		}
	}
}

// build makes the configuration.
func (g *gluing) build() {
	u := Config{Inodes: slices.Clone(g.v.Inodes), Procs: slices.Clone(g.v.Procs)}
	to := func(q int) int { return g.pids[q] }
	for i := range g.w.Inodes {
		n := g.w.Inodes[i]
		names := n.Names
		n.ID, n.Maker, n.Parent, n.Data, n.Names = g.files[n.ID], g.pids[n.Maker], g.files[n.Parent], renamed(n.Data, to), nil
		m := u.inode(n.ID)
		if m == nil {
			u.Inodes = append(u.Inodes, n)
			slices.SortFunc(u.Inodes, func(a, b Inode) int { return int(a.ID - b.ID) })
			m = u.inode(n.ID)
		}
		m.Names = slices.Clone(m.Names)
		for _, e := range names {
			e = fsfake.SnapshotName{Name: renamed(e.Name, to), Inode: g.files[e.Inode]}
			at := slices.IndexFunc(m.Names, func(o fsfake.SnapshotName) bool { return o.Name == e.Name })
			if at < 0 {
				m.Names = append(m.Names, e)
			} else if m.Names[at].Inode != e.Inode {
				return
			}
		}
		slices.SortFunc(m.Names, func(a, b fsfake.SnapshotName) int { return strings.Compare(a.Name, b.Name) })
	}
	if !u.linked() {
		return
	}
	for i := range g.w.Procs {
		g.process(&u, g.w.Procs[i])
	}
	slices.SortFunc(u.Procs, func(a, b Proc) int { return a.Pid - b.Pid })
	g.visit(u)
}

// linked reports whether no file has more names than links, nor a directory two: no call makes one that has.
func (c *Config) linked() bool {
	names := map[fsfake.InodeID]uint32{}
	for i := range c.Inodes {
		for _, e := range c.Inodes[i].Names {
			n := c.inode(e.Inode)
			if names[e.Inode]++; names[e.Inode] > n.Nlink || names[e.Inode] > 1 && n.Kind == fsfake.KindDir {
				return false
			}
		}
	}
	return true
}

// process brings a process of w into the configuration.
func (g *gluing) process(u *Config, q Proc) {
	q.Pid = g.pids[q.Pid]
	q.Start = startOf(q.Pid)
	q.FDs = slices.Clone(q.FDs)
	for i := range q.FDs {
		q.FDs[i].Inode = g.files[q.FDs[i].Inode]
	}
	q.Records = slices.Clone(q.Records)
	for i := range q.Records {
		q.Records[i].Inode = g.files[q.Records[i].Inode]
	}
	slices.SortFunc(q.Records, byInode)
	p := u.proc(q.Pid)
	switch {
	case p != nil && p.Full:
		return // as v has it; what w knows of it is compared with that
	case !q.Full:
		locked := locksOf(&q)
		if p != nil {
			locked = append(locked, locksOf(p)...)
		}
		q = stub(q.SnapshotProc, q.Dead, locked)
	default:
		q.Seen, q.Cwd = slices.Clone(q.Seen), g.files[q.Cwd]
		for i, id := range q.Seen {
			if id > 0 {
				q.Seen[i] = g.files[id]
			}
		}
		told, holds := q.Place.Told, q.Place.Holds
		q.Place.Told, q.Place.Holds = nil, nil
		for _, t := range told {
			q.Place.Told = append(q.Place.Told, g.pids[t])
		}
		for _, h := range holds {
			if h.Inode > 0 {
				h.Inode = g.files[h.Inode]
			}
			to := func(t int) int { return g.pids[t] }
			h.Path, h.Lock = renamed(h.Path, to), renamed(h.Lock, to)
			q.Place.Holds = append(q.Place.Holds, h)
		}
	}
	if p != nil {
		*p = q
	} else {
		u.Procs = append(u.Procs, q)
	}
}
