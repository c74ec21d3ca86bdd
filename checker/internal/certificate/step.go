package certificate

import (
	"cmp"
	"slices"

	"lockpick/fsfake"
)

// steps visits what can happen when a process makes its next call, or is killed, and whether an assertion fails then.
func (v *verifier) steps(c *config, pid int, visit func(d config, failed bool)) {
	p := c.proc(pid)
	if p.Dead {
		return
	}
	if v.file.Kills {
		visit(v.ended(c, pid), false)
	}
	if p.Place.Node == ended {
		if !v.sc.Setting.Daemons {
			visit(v.ended(c, pid), false)
		}
		return
	}
	nd := v.nodes[p.Place.Node]
	if nd == nil {
		v.no("no edge leads to node %d", p.Place.Node)
		return
	}
	op := renamed(nd.op, v.real(p))
	if op.Call.Ends() {
		visit(v.ended(c, pid), false)
		return
	}
	if op.Wait && len(p.Records) > 0 {
		v.no("a process waits for a record lock and has another: %s", op)
	}
	m := v.machine(c)
	for _, path := range []string{op.Path, op.Path2} {
		if id, ok := m.LookupName(path); ok && m.View(id).Kind == fsfake.KindDir &&
			(op.Call == fsfake.CallRename || op.Call == fsfake.CallRmdir) {
			v.emptied = append(v.emptied, m.Paths(id)...)
		}
	}
	r := m.Do(fsfake.Task{Pid: pid, N: 1}, op)
	if r.Unmodelled != "" || r.Blocked && !op.Call.IsLock() {
		v.no("%s is not modelled for any number of processes", op)
	}
	if v.why != "" || r.Blocked { // who waits has not asked yet
		return
	}
	d := v.after(c, m, pid)
	q := d.proc(pid)
	if at := slices.IndexFunc(q.Place.Holds, func(h hold) bool {
		return h.Lock == text(nd.lock, v.real(p))
	}); at >= 0 && nd.letGo && !q.Place.Begun {
		q.Place.Holds = slices.Delete(slices.Clone(q.Place.Holds), at, at+1)
	}
	v.answered(d, pid, nd.op.Call, r, visit)
	if v.file.InodesReused {
		v.sameNumber(c, d, pid, nd.op.Call, r, visit)
	}
}

// real is who a process means: 101 is itself, and 102, 103, … are those that it was told of, in this order.
func (v *verifier) real(p *process) func(int) int {
	return func(q int) int {
		if q == low {
			return p.Pid
		}
		if q-low > len(p.Place.Told) {
			v.no("a process names another one that it was not told of")
			return p.Pid
		}
		return p.Place.Told[q-low-1]
	}
}

// ended is the configuration in which a process is dead.
func (v *verifier) ended(c *config, pid int) config {
	m := v.machine(c)
	m.KillProc(pid)
	return v.after(c, m, pid)
}

// after is a configuration after a call: what the machine has, and what is known beside.
func (v *verifier) after(c *config, m *fsfake.Machine, by int) config {
	snap, err := m.Snapshot()
	if err != nil {
		v.no("a call makes %v", err)
		return *c
	}
	d := config{Inside: c.Inside}
	for _, p := range c.Procs {
		at := slices.IndexFunc(snap.Procs, func(o fsfake.SnapshotProc) bool { return o.Pid == p.Pid })
		if at < 0 {
			p = process{SnapshotProc: fsfake.SnapshotProc{Pid: p.Pid, UID: p.UID, GID: p.GID}, Dead: true, Full: p.Full}
		} else {
			p.SnapshotProc = snap.Procs[at]
		}
		d.Procs = append(d.Procs, p)
	}
	for _, n := range snap.Inodes {
		i := inode{SnapshotInode: n}
		if was := c.inode(n.ID); was != nil {
			i.Maker = was.Maker
		} else if v.file.Makers {
			i.Maker = by
		}
		if i.Maker != 0 && (len(pids(n.Data)) > 0 || d.proc(i.Maker).Dead) {
			i.Maker = 0
		}
		d.Inodes = append(d.Inodes, i)
	}
	v.split(&d, m)
	return d
}

// answered visits where the program goes on after an answer, by the edge that the certificate has for it.
func (v *verifier) answered(c config, pid int, asked fsfake.Call, r fsfake.Result, visit func(config, bool)) {
	c.Procs = slices.Clone(c.Procs)
	p := c.proc(pid)
	p.Place.Told = slices.Clone(p.Place.Told)
	r = retold(asked, r, func(q int) int {
		if !slices.Contains(p.Place.Told, q) && q != pid {
			p.Place.Told = append(p.Place.Told, q)
		}
		return low + slices.Index(append([]int{pid}, p.Place.Told...), q)
	})
	if !v.file.Sizes {
		r.Stat.Size, r.Stat.Nlink = 0, 0
	}
	e := v.edges[step{p.Place.Node, r}]
	if e == nil || len(p.Place.Told) >= 25 {
		v.no("no edge says what the program does in node %d after %s is answered %+v", p.Place.Node, asked, r)
		return
	}
	to, told := v.nodes[e.To], v.real(&process{SnapshotProc: p.SnapshotProc, Place: p.Place})
	p.Place.Node, p.Place.Begun = e.To, e.again
	if to == nil { // the program has ended
		to = &node{}
	}
	p.Place.Told = p.Place.Told[:to.told]
	if old := p.Place; (e.call.again != 0 || e.To == ended) && to.knows != all {
		m := v.machine(&c)
		m.ForgetInodes(pid, to.knows)
		c = v.after(&c, m, pid)
		p = c.proc(pid)
		p.Place = old
	}
	if v.file.InodesReused {
		p.apart(&c)
	}
	if e.call.holds {
		of := e.call.holding
		v.acquired(&c, p, hold{text(of.Lock, told), text(of.Path, told), fsfake.Gone}, of.FD)
	}
	visit(c, e.call.failed)
}

// acquired notes that a process holds a lock, of the file that it has open or that stands at the path.
func (v *verifier) acquired(c *config, p *process, h hold, fd int) {
	if m := v.machine(c); h.Path != "" {
		if id, ok := m.FDInode(p.Pid, fd); ok && fd >= 0 {
			h.Inode = id
		} else if id, ok := m.LookupName(h.Path); ok {
			h.Inode = id
		}
	}
	if slices.ContainsFunc(p.Place.Holds, func(o hold) bool { return sameLock(o.Lock, h.Lock) }) {
		v.no("a process acquires a lock that it holds: %s", h.Lock)
	}
	p.Place.Holds = append(slices.Clone(p.Place.Holds), h)
	slices.SortFunc(p.Place.Holds, func(a, b hold) int { return cmp.Compare(a.Lock, b.Lock) })
}

// apart keeps which numbers a process knows to differ from that of a file that it has open: those of files that were
// there at the same time.
func (p *process) apart(c *config) {
	old := p.Place.Apart
	p.Place.Apart = nil
	for _, f := range p.FDs {
		for j, id := range p.kept(c).Seen {
			is := apart{f.FD, j}
			if id != f.Inode && (id > 0 || id == fsfake.Gone && slices.Contains(old, is)) {
				p.Place.Apart = append(p.Place.Apart, is)
			}
		}
	}
}

// sameNumber visits what happens where a file that a process meets now has the number of one that has gone.
func (v *verifier) sameNumber(c *config, d config, pid int, asked fsfake.Call, r fsfake.Result,
	visit func(config, bool)) {
	p := c.proc(pid).kept(c)
	now, at := d.proc(pid).Seen, int(r.Stat.Ino)-1
	if at < 0 || at >= len(now) || at < len(p.Seen) && p.Seen[at] == now[at] {
		return // it is no new file
	}
	for j, id := range p.Seen {
		if id != fsfake.Gone || slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool {
			return f.Inode == now[at] && slices.Contains(p.Place.Apart, apart{f.FD, j})
		}) {
			continue
		}
		e := config{d.Inodes, slices.Clone(d.Procs), d.Inside}
		q := e.proc(pid)
		if q.Seen = slices.Clone(now); at < len(p.Seen) {
			q.Seen[at] = p.Seen[at]
		} else {
			q.Seen = q.Seen[:at]
		}
		q.Seen[j], r.Stat.Ino = now[at], uint64(j+1)
		v.answered(e, pid, asked, r, visit)
	}
}
