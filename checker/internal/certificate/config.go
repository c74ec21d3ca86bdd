package certificate

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// An inode is a file. Its locks are here, and who has made it, while that process lives.
type inode struct {
	fsfake.SnapshotInode
	Maker    int
	Flock    int
	Record   fsfake.SnapshotRecord
	RecordBy int
}

// A process is full where its place in the program is known. Of others it is known whether they live.
type process struct {
	fsfake.SnapshotProc
	Dead, Full bool
	Place      place
}

// A place is where a process is in its program, whom it has been told of, which locks it holds, and which numbers of
// files it knows to differ from that of one that it has open.
type place struct {
	Node  uint32
	Begun bool
	Told  []int
	Holds []hold
	Apart []apart
}

type apart struct{ FD, Number int }

type hold struct {
	Lock, Path string
	Inode      fsfake.InodeID
}

// A config is a view, or a configuration of two processes. Inside are the locks that somebody else holds.
type config struct {
	Inodes []inode
	Procs  []process
	Inside []string
}

const (
	low  = 101 // scenarios.Pid(0)
	root = 1   // the inode of "/"
)

func (c *config) inode(id fsfake.InodeID) *inode {
	for i := range c.Inodes {
		if c.Inodes[i].ID == id {
			return &c.Inodes[i]
		}
	}
	return nil
}

func (c *config) proc(pid int) *process {
	for i := range c.Procs {
		if c.Procs[i].Pid == pid {
			return &c.Procs[i]
		}
	}
	return nil
}

// A ref is a file, by its identity, or a process, by its pid below zero; 0 is none. A function from refs to refs
// renames a configuration, and lists what is in it.

func refs(to func(int) int) (pid func(int) int, id func(fsfake.InodeID) fsfake.InodeID) {
	pid = func(p int) int {
		if p == 0 {
			return 0
		}
		return -to(-p)
	}
	return pid, func(i fsfake.InodeID) fsfake.InodeID {
		if i <= 0 {
			return i
		}
		return fsfake.InodeID(to(int(i)))
	}
}

// text renames the processes that a text names: by a pid, 101 to 126, or a start time, 1000 to 1025.
func text(s string, pid func(int) int) string {
	digits := func(r rune) bool { return '0' <= r && r <= '9' }
	for done := 0; done < len(s); {
		from := strings.IndexFunc(s[done:], digits)
		if from < 0 {
			break
		}
		from += done
		end := from + len(s[from:]) - len(strings.TrimLeftFunc(s[from:], digits))
		n, _ := strconv.Atoi(s[from:end])
		switch {
		case end-from == 3 && isPid(n):
			s = s[:from] + strconv.Itoa(pid(n)) + s[end:]
		case end-from == 4 && isPid(n-start(0)):
			s = s[:from] + strconv.Itoa(start(pid(n-start(0)))) + s[end:]
		}
		done = end
	}
	return s
}

func isPid(n int) bool { _, ok := scenarios.ProcessOf(n); return ok }

// start is the start time of a process.
func start(pid int) int { return pid - low + int(scenarios.ProcID(0).Start) }

// pids lists whom a text names.
func pids(s string) (all []int) {
	text(s, func(p int) int { all = append(all, p); return p })
	return all
}

// mapped is a file with other refs in it.
func (n inode) mapped(to func(int) int) inode {
	pid, id := refs(to)
	n.ID, n.Parent, n.Data = id(n.ID), id(n.Parent), text(n.Data, pid)
	n.Maker, n.Flock, n.RecordBy, n.Record.Inode = pid(n.Maker), pid(n.Flock), pid(n.RecordBy), id(n.Record.Inode)
	all := n.Names
	n.Names = nil
	for _, e := range all {
		n.Names = append(n.Names, fsfake.SnapshotName{Name: text(e.Name, pid), Inode: id(e.Inode)})
	}
	slices.SortFunc(n.Names, func(a, b fsfake.SnapshotName) int { return cmp.Compare(a.Name, b.Name) })
	return n
}

// named is a file without the names in it that hold the pid of another process than this one. The names are in the
// order that they have for process 101, so that all processes number files alike.
func (n inode) named(pid int) inode {
	n.Names = slices.DeleteFunc(slices.Clone(n.Names), func(e fsfake.SnapshotName) bool {
		return slices.ContainsFunc(pids(e.Name), func(p int) bool { return p != pid })
	})
	as101 := func(name string) string { return text(name, func(int) int { return low }) }
	slices.SortFunc(n.Names, func(a, b fsfake.SnapshotName) int { return cmp.Compare(as101(a.Name), as101(b.Name)) })
	return n
}

// mapped is a process with other refs in it.
func (p process) mapped(to func(int) int) process {
	pid, id := refs(to)
	q := process{p.SnapshotProc, p.Dead, p.Full, place{Node: p.Place.Node, Begun: p.Place.Begun}}
	q.Pid, q.Cwd, q.FDs, q.Seen, q.Records = pid(p.Pid), id(p.Cwd), nil, nil, nil
	q.Start = int64(start(q.Pid))
	for _, f := range p.FDs {
		f.Inode = id(f.Inode)
		q.FDs = append(q.FDs, f)
	}
	for _, i := range p.Seen {
		q.Seen = append(q.Seen, id(i))
	}
	for _, r := range p.Records {
		r.Inode = id(r.Inode)
		q.Records = append(q.Records, r)
	}
	for _, t := range p.Place.Told {
		q.Place.Told = append(q.Place.Told, pid(t))
	}
	for _, h := range p.Place.Holds {
		q.Place.Holds = append(q.Place.Holds, hold{text(h.Lock, pid), text(h.Path, pid), id(h.Inode)})
	}
	q.Place.Apart = append(q.Place.Apart, p.Place.Apart...)
	return q
}
