package certificate

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
)

// split puts the locks of the kernel to the files, which are all that is known of the descriptors of a process that is
// not full, and notes which directories have names that hold pids.
func (v *verifier) split(c *config, m *fsfake.Machine) {
	for i := range c.Inodes {
		n := &c.Inodes[i]
		n.Flock, n.RecordBy, n.Record = 0, 0, fsfake.SnapshotRecord{}
		for _, e := range n.Names {
			of := pids(e.Name)
			if len(of) == 0 {
				continue
			}
			if slices.Max(of) != slices.Min(of) {
				v.no("a name holds the pids of two processes: %s", e.Name)
			}
			paths := m.Paths(n.ID)
			if !slices.ContainsFunc(paths, func(dir string) bool { return len(pids(dir)) == 0 }) {
				v.no("a name holds a pid, in a directory that is not there for all: %s", e.Name)
			}
			for _, dir := range paths {
				v.pidDirs[dir] = true
			}
		}
		if n.Kind == fsfake.KindSymlink && len(pids(n.Data)) > 0 {
			v.no("a symlink leads to the pid of a process: %s", n.Data)
		}
	}
	for i := range c.Procs {
		p := &c.Procs[i]
		for _, f := range p.FDs {
			if f.Flock != 0 {
				c.inode(f.Inode).Flock = p.Pid
			}
		}
		for _, r := range p.Records {
			n := c.inode(r.Inode)
			n.RecordBy, n.Record = p.Pid, fsfake.SnapshotRecord{Start: r.Start, End: r.End, FD: min(r.FD, 0)}
		}
		if !p.Full {
			p.FDs, p.Records = nil, nil
		}
	}
}

// machine is a configuration as a machine.
func (v *verifier) machine(c *config) *fsfake.Machine {
	s := fsfake.Snapshot{Procs: slices.Clone(v.rest)}
	for i := range c.Procs {
		p := c.Procs[i].SnapshotProc
		for _, n := range c.Inodes {
			f := fsfake.SnapshotFD{FD: 3 + len(p.FDs), Inode: n.ID, Flags: fsfake.O_RDWR, Flock: fsfake.LOCK_EX}
			if !c.Procs[i].Full && n.Flock == p.Pid {
				p.FDs = append(p.FDs, f)
			}
			if f.FD, f.Flock = 3+len(p.FDs), 0; c.Procs[i].Full || n.RecordBy != p.Pid {
				continue
			}
			r := fsfake.SnapshotRecord{Inode: n.ID, Start: n.Record.Start, End: n.Record.End, FD: -1}
			if n.Record.FD == 0 {
				p.FDs, r.FD = append(p.FDs, f), f.FD
			}
			p.Records = append(p.Records, r)
		}
		if !c.Procs[i].Dead {
			s.Procs = append(s.Procs, p)
		}
	}
	for _, n := range c.Inodes {
		s.Inodes = append(s.Inodes, n.SnapshotInode)
	}
	slices.SortFunc(s.Inodes, func(a, b fsfake.SnapshotInode) int { return int(a.ID - b.ID) })
	slices.SortFunc(s.Procs, func(a, b fsfake.SnapshotProc) int { return a.Pid - b.Pid })
	return v.kind.Of(&s)
}

// view is what one process can reach in a configuration: the names that hold no pid, and those with its own; what it
// has open and remembers; whom any of these name, and who has locked them.
func (v *verifier) view(c *config, of int) config {
	number, files, others := map[int]int{}, []int{}, []int{}
	var add func(int) int
	add = func(ref int) int {
		if number[ref] != 0 {
			return number[ref]
		}
		if ref < 0 {
			others = append(others, -ref)
			number[ref] = 1 - low - len(others)
			return number[ref]
		}
		files = append(files, ref)
		number[ref] = len(files)
		n := c.inode(fsfake.InodeID(ref))
		if n.Kind == fsfake.KindDir && n.Nlink == 0 {
			v.no("a directory is removed while it is in use")
		}
		n.named(of).mapped(add)
		return number[ref]
	}
	add(-of)
	add(root)
	p := c.proc(of).kept(c)
	p.mapped(add)
	to := func(ref int) int { return number[ref] }
	out := config{}
	for _, ref := range files {
		out.Inodes = append(out.Inodes, c.inode(fsfake.InodeID(ref)).named(of).mapped(to))
	}
	for _, pid := range others {
		q := *c.proc(pid)
		if pid == of {
			q = p
		} else {
			q = other(q)
		}
		out.Procs = append(out.Procs, q.mapped(to))
	}
	if v.file.Inside {
		out.Inside = append(out.Inside, c.Inside...)
		for i := range c.Procs {
			if c.Procs[i].Pid != of {
				for _, h := range c.Procs[i].Place.Holds {
					out.Inside = append(out.Inside, h.Lock)
				}
			}
		}
		slices.Sort(out.Inside)
		out.Inside = slices.Compact(out.Inside)
	}
	return out
}

// other is a process of which only is known whether it lives.
func other(p process) process {
	q := process{Dead: p.Dead}
	q.Pid, q.UID, q.GID = p.Pid, p.UID, p.GID
	if !p.Dead {
		q.Cwd = root
	}
	return q
}

// kept is a process without what it cannot meet again: files that have no name, and that it has not open.
func (p process) kept(c *config) process {
	p.Seen, p.Place.Holds = slices.Clone(p.Seen), slices.Clone(p.Place.Holds)
	for i, id := range p.Seen {
		open := id == p.Cwd || slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool { return f.Inode == id })
		if n := c.inode(id); id > 0 && (n == nil || n.Nlink == 0 && !open) {
			p.Seen[i] = fsfake.Gone
		}
	}
	for i, h := range p.Place.Holds {
		if n := c.inode(h.Inode); n == nil || n.Nlink == 0 {
			p.Place.Holds[i].Inode = fsfake.Gone
		}
	}
	return p
}

// key tells configurations apart.
func (c *config) key() string { return fmt.Sprintf("%#v", *c) }
