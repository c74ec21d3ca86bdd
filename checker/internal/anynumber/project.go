package anynumber

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
)

// A projection is on its way from a configuration to the view of some of its processes. Each rule by which
// something comes into a view has one premise beside the directories that all views have. So the view of some processes
// is the union of the views of each.
type projection struct {
	c      *Config
	number map[int]int // of those that are known: their pid in the view
	order  []int       // whom the numbers belong to
	in     map[fsfake.InodeID]fsfake.InodeID
	list   []fsfake.InodeID
	felt   map[int]bool // known by a lock only: their pids name no file
	public map[fsfake.InodeID]bool
	how    How
	kept   int // so many of order are full
	why    refusal
}

// refuse says what the configuration has that no view has.
func (p *projection) refuse(why string) {
	if p.why == "" {
		p.why = refusal(why)
	}
}

func (p *projection) known(pid int) {
	if _, ok := p.number[pid]; !ok {
		p.number[pid] = low + len(p.order)
		p.order = append(p.order, pid)
	}
}

// names reports whether a name is in the view: all that it names are full, or known and not by a lock only.
func (p *projection) names(s string) bool {
	for _, q := range pidsIn(s) {
		if n, ok := p.number[q]; !ok || p.felt[q] || !p.how.Names && n >= low+p.kept {
			return false
		}
	}
	return true
}

func (p *projection) rename(s string) string {
	return renamed(s, func(q int) int { return p.number[q] })
}

// inode brings a file into the view: what its text names, who has made it, and what a directory leads to.
func (p *projection) inode(id fsfake.InodeID) {
	if _, ok := p.in[id]; ok {
		return
	}
	n := p.c.inode(id)
	if n == nil { // it came there with its directory, which had the name of a process before
		p.refuse("a directory with the name of a process becomes one that all see")
		return
	}
	p.list = append(p.list, id)
	p.in[id] = fsfake.InodeID(len(p.list))
	if n.Maker != 0 {
		p.known(n.Maker)
	}
	if n.Kind != fsfake.KindDir {
		if len(n.Data) > maxText {
			p.refuse(fmt.Sprintf("a file grows without a bound: it begins with %q", n.Data[:16]))
		}
		for _, q := range pidsIn(n.Data) {
			p.known(q)
		}
		return
	}
	if n.Nlink == 0 {
		p.refuse("a directory is removed while it is in use")
		return
	}
	for _, e := range n.Names {
		if len(pidsIn(e.Name)) == 0 {
			p.inode(e.Inode)
		}
	}
	p.inode(n.Parent)
}

// pidNames brings the files into the view whose names hold pids that are known.
func (p *projection) pidNames() {
	for again := true; again; {
		again = false
		for _, id := range slices.Clone(p.list) {
			n := p.c.inode(id)
			var found []fsfake.SnapshotName
			for _, e := range n.Names {
				pids := pidsIn(e.Name)
				if len(pids) == 0 {
					continue
				}
				if slices.Sort(pids); len(slices.Compact(pids)) > 1 {
					p.refuse("a name holds the pids of two processes: " + e.Name)
				}
				if !p.public[id] {
					p.refuse("a name holds a pid, in a directory that is not there for all: " + e.Name)
				}
				if _, ok := p.in[e.Inode]; !ok && p.names(e.Name) {
					found = append(found, fsfake.SnapshotName{Name: p.rename(e.Name), Inode: e.Inode})
				}
			}
			slices.SortFunc(found, func(a, b fsfake.SnapshotName) int { return strings.Compare(a.Name, b.Name) })
			for _, e := range found {
				p.inode(e.Inode)
				again = true
			}
		}
	}
}

// publicDirs lists the directories that a view always has.
func (c *Config) publicDirs() map[fsfake.InodeID]bool {
	dirs := map[fsfake.InodeID]bool{root: true}
	for work := []fsfake.InodeID{root}; len(work) > 0; work = work[1:] {
		for _, e := range c.inode(work[0]).Names {
			if n := c.inode(e.Inode); len(pidsIn(e.Name)) == 0 && n != nil && n.Kind == fsfake.KindDir {
				dirs[e.Inode] = true
				work = append(work, e.Inode)
			}
		}
	}
	return dirs
}

// remembers lists what a process remembers of inodes, and what of that can still be met: an inode that has a name,
// or that it has open itself. Another one without a name can not be met again.
func (c *Config) remembers(p *Proc) (seen []fsfake.InodeID, holds []Hold) {
	for _, id := range p.Seen {
		if id > 0 {
			n := c.inode(id)
			own := slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool { return f.Inode == id })
			if n == nil || n.Nlink == 0 && !own && id != p.Cwd {
				id = fsfake.Gone
			}
		}
		seen = append(seen, id)
	}
	for _, h := range p.Place.Holds {
		if n := c.inode(h.Inode); n == nil || n.Nlink == 0 {
			h.Inode = fsfake.Gone
		}
		holds = append(holds, h)
	}
	return seen, holds
}

// view is the view of the full processes in keep, which become 101, 102, … in this order; then come
// others in the order in which the view meets them. So it is canonical for that order.
func (c *Config) view(keep []int, how How) Config {
	p := &projection{c: c, number: map[int]int{}, in: map[fsfake.InodeID]fsfake.InodeID{}, felt: map[int]bool{},
		how: how, kept: len(keep),
		public: c.publicDirs()}
	for _, pid := range keep {
		p.known(pid)
	}
	p.inode(root)
	seen, holds := make([][]fsfake.InodeID, len(keep)), make([][]Hold, len(keep))
	for i, pid := range keep {
		q := c.proc(pid)
		for _, t := range q.Place.Told {
			p.known(t)
		}
		if q.Dead {
			continue
		}
		for _, f := range q.FDs {
			p.inode(f.Inode)
		}
		p.inode(q.Cwd)
		seen[i], holds[i] = c.remembers(q)
		for _, id := range seen[i] {
			if id > 0 {
				p.inode(id)
			}
		}
		for _, h := range holds[i] {
			for _, t := range pidsIn(h.Path + " " + h.Lock) {
				p.known(t)
			}
			if h.Inode > 0 {
				p.inode(h.Inode)
			}
		}
	}
	p.pidNames()
	for _, id := range p.list {
		for _, by := range c.lockers(id) {
			if _, ok := p.number[by]; !ok && by != 0 {
				p.known(by)
				p.felt[by] = true
			}
		}
	}
	return p.build(keep, seen, holds)
}

func (p *projection) build(keep []int, seen [][]fsfake.InodeID, holds [][]Hold) Config {
	out := Config{why: p.why}
	for i, id := range p.list {
		n := *p.c.inode(id)
		n.ID, n.Data, n.Maker, n.Parent = fsfake.InodeID(i+1), p.rename(n.Data), p.number[n.Maker], p.in[n.Parent]
		names := n.Names
		n.Names = nil
		for _, e := range names {
			if to, ok := p.in[e.Inode]; ok && p.names(e.Name) {
				n.Names = append(n.Names, fsfake.SnapshotName{Name: p.rename(e.Name), Inode: to})
			}
		}
		slices.SortFunc(n.Names, func(a, b fsfake.SnapshotName) int { return strings.Compare(a.Name, b.Name) })
		out.Inodes = append(out.Inodes, n)
	}
	for i, pid := range p.order {
		q := *p.c.proc(pid)
		q.Pid, q.Start = low+i, startOf(low+i)
		if q.Full = i < len(keep); q.Full {
			p.full(&q, seen[i], holds[i])
		} else {
			p.stub(&q)
		}
		out.Procs = append(out.Procs, q)
	}
	if p.how.Inside {
		out.Inside = p.c.Inside
		for i := range p.c.Procs {
			if q := &p.c.Procs[i]; q.Full && !slices.Contains(keep, q.Pid) {
				out.Inside = union(out.Inside, q.holds())
			}
		}
	}
	return out
}

// full renumbers what a full process has.
func (p *projection) full(q *Proc, seen []fsfake.InodeID, holds []Hold) {
	at := q.Place
	q.Place.Told, q.Place.Holds = nil, nil
	for _, t := range at.Told {
		q.Place.Told = append(q.Place.Told, p.number[t])
	}
	if q.Dead {
		q.FDs, q.Seen, q.Records, q.Cwd, q.Pinned = nil, nil, nil, 0, false
		return
	}
	q.Cwd, q.FDs, q.Seen = p.in[q.Cwd], slices.Clone(q.FDs), slices.Clone(seen)
	for i := range q.FDs {
		q.FDs[i].Inode = p.in[q.FDs[i].Inode]
	}
	for i, id := range q.Seen {
		if id > 0 {
			q.Seen[i] = p.in[id]
		}
	}
	q.Records = slices.Clone(q.Records)
	for i := range q.Records {
		q.Records[i].Inode = p.in[q.Records[i].Inode]
	}
	slices.SortFunc(q.Records, byInode)
	for _, h := range holds {
		if h.Inode > 0 {
			h.Inode = p.in[h.Inode]
		}
		h.Path, h.Lock = p.rename(h.Path), p.rename(h.Lock)
		q.Place.Holds = append(q.Place.Holds, h)
	}
}

// stub leaves of a process its locks on files of the view.
func (p *projection) stub(q *Proc) {
	var locked []lock
	for _, l := range locksOf(q) {
		if to, ok := p.in[l.inode]; ok {
			l.inode = to
			locked = append(locked, l)
		}
	}
	*q = stub(q.SnapshotProc, q.Dead, locked)
}

// A lock is an exclusive lock of the kernel: an flock, or a record lock of a process or of an open file.
type lock struct {
	inode      fsfake.InodeID
	flock, ofd bool
	start, end int64
}

func byInode(a, b fsfake.SnapshotRecord) int { return int(a.Inode - b.Inode) }

// locksOf lists the locks of a process.
func locksOf(q *Proc) (all []lock) {
	for _, f := range q.FDs {
		if f.Flock != 0 {
			all = append(all, lock{inode: f.Inode, flock: true})
		}
	}
	for _, r := range q.Records {
		all = append(all, lock{inode: r.Inode, ofd: r.FD >= 0, start: r.Start, end: r.End})
	}
	return all
}

// stub is a process of which nothing is known but that it lives, and its locks. Each that belongs to an open file has
// one of its own.
func stub(of fsfake.SnapshotProc, dead bool, locked []lock) Proc {
	q := Proc{SnapshotProc: fsfake.SnapshotProc{Pid: of.Pid, UID: of.UID, GID: of.GID, Start: of.Start}, Dead: dead}
	if !dead {
		q.Cwd = root
	}
	order := func(l lock) int {
		if l.flock {
			return 2*int(l.inode) + 1
		}
		return 2 * int(l.inode)
	}
	slices.SortFunc(locked, func(a, b lock) int { return cmp.Compare(order(a), order(b)) })
	for _, l := range slices.Compact(locked) {
		fd := -1
		if l.flock || l.ofd {
			fd = 3 + len(q.FDs)
			q.FDs = append(q.FDs, fsfake.SnapshotFD{FD: fd, Inode: l.inode, Flags: fsfake.O_RDWR})
		}
		if l.flock {
			q.FDs[len(q.FDs)-1].Flock = fsfake.LOCK_EX
		} else {
			q.Records = append(q.Records, fsfake.SnapshotRecord{Inode: l.inode, Start: l.start, End: l.end, FD: fd})
		}
	}
	return q
}

// A seenView is a view with its key.
type seenView struct {
	Config
	Key string
}

// canonical is the view of some processes in the order that has the least key.
func (c *Config) canonical(keep []int, how How) seenView {
	best := seenView{}
	if len(keep) < 2 {
		v := c.view(keep, how)
		return seenView{v, v.key()}
	}
	permute(slices.Clone(keep), 0, func(order []int) {
		v := c.view(order, how)
		if k := v.key(); best.Key == "" || k < best.Key {
			best = seenView{v, k}
		}
	})
	return best
}

func permute(s []int, at int, visit func([]int)) {
	if at >= len(s)-1 {
		visit(s)
		return
	}
	for i := at; i < len(s); i++ {
		s[at], s[i] = s[i], s[at]
		permute(s, at+1, visit)
		s[at], s[i] = s[i], s[at]
	}
}
