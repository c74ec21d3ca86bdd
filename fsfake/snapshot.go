package fsfake

import (
	"fmt"
	"slices"
)

// A Snapshot is a machine as plain data: files, processes, descriptors and locks. It has no more than
// [Machine.Snapshot] lists, so a machine with more has no snapshot. Identities are those of the machine.
type Snapshot struct {
	Inodes []SnapshotInode // sorted by identity; the first is "/"
	Procs  []SnapshotProc  // sorted by pid
}

// A SnapshotInode is a file. Times are atime, mtime, ctime and btime.
type SnapshotInode struct {
	ID     InodeID
	Kind   Kind
	Mode   uint32
	UID    uint32
	GID    uint32
	Nlink  uint32
	Data   string         // content of a file, target of a symlink
	Names  []SnapshotName // of a directory, sorted
	Parent InodeID        // of a directory
	Times  [4]int64
}

// A SnapshotName is a directory entry.
type SnapshotName struct {
	Name  string
	Inode InodeID
}

// A SnapshotProc is a process. Its standard streams are open, and not listed.
type SnapshotProc struct {
	Pid   int
	UID   uint32
	GID   uint32
	Start int64
	Cwd   InodeID
	FDs   []SnapshotFD
	// Seen are the inodes whose numbers it was shown, from 1 on; [Forgotten] and [Gone] stand for none.
	Seen    []InodeID
	Pinned  bool
	Records []SnapshotRecord // of its own and of its descriptions, by inode
}

// A SnapshotRecord is a record lock that excludes all others, and the only one of its file. End is included. FD is a
// descriptor of the description that owns it (OFD), or -1 where the process does.
type SnapshotRecord struct {
	Inode      InodeID
	Start, End int64
	FD         int
}

// Forgotten stands for a number in Seen that is free again, Gone for one whose inode has gone.
const (
	Forgotten = forgotten
	Gone      = InodeID(-1)
)

// A SnapshotFD is a descriptor. Nobody shares its description.
type SnapshotFD struct {
	FD      int
	Inode   InodeID
	Flags   int
	Offset  int64
	Flock   int
	Cloexec bool
}

// Snapshot returns the machine as data. The error names what the machine has that no snapshot has: a record
// lock, a blocked call, a shared description, memory of tasks, and whatever else its key tells.
func (m *Machine) Snapshot() (Snapshot, error) {
	var s Snapshot
	for _, n := range m.inodes {
		if len(n.records) > 1 || len(n.records) == 1 && n.records[0].typ != F_WRLCK {
			return s, fmt.Errorf("several record locks (fcntl) on a file, or one that is shared")
		}
		if n.linkable {
			return s, fmt.Errorf("a file without a name that may get one (O_TMPFILE)")
		}
		is := SnapshotInode{n.id, n.kind, n.mode, n.uid, n.gid, n.nlink, n.data, nil, n.parent, [4]int64{n.atime,
			n.mtime, n.ctime, n.btime}}
		for _, e := range n.names {
			is.Names = append(is.Names, SnapshotName{e.name, e.id})
		}
		s.Inodes = append(s.Inodes, is)
	}
	for _, p := range m.procs {
		ps := SnapshotProc{Pid: p.pid, UID: p.uid, GID: p.gid, Start: p.start, Cwd: p.cwd, Pinned: p.pinned}
		for _, id := range p.seen {
			if id != forgotten && m.findInode(id) == nil {
				id = Gone
			}
			ps.Seen = append(ps.Seen, id)
		}
		if !hasStreams(p.fds) || p.skew != 0 || p.inside != 0 {
			return s, fmt.Errorf("a process with other standard streams, a clock or pids of its own")
		}
		for _, f := range p.fds[len(standard):] {
			if f.outside() || m.desc(f.desc).refs != 1 {
				return s, fmt.Errorf("an open file that descriptors share (dup, fork)")
			}
			d := m.desc(f.desc)
			ps.FDs = append(ps.FDs, SnapshotFD{int(f.fd), d.inode, int(d.flags), d.offset, int(d.flock), f.cloexec})
			if n := m.inode(d.inode); len(n.records) > 0 && n.records[0].owner.desc == f.desc {
				ps.Records = append(ps.Records, SnapshotRecord{n.id, n.records[0].start, n.records[0].end, int(f.fd)})
			}
		}
		for _, n := range m.inodes {
			if len(n.records) > 0 && n.records[0].owner.pid == p.pid {
				ps.Records = append(ps.Records, SnapshotRecord{n.id, n.records[0].start, n.records[0].end, -1})
			}
		}
		slices.SortFunc(ps.Records, func(a, b SnapshotRecord) int { return int(a.Inode - b.Inode) })
		s.Procs = append(s.Procs, ps)
	}
	if string(m.Of(&s).AppendKey(nil)) != string(m.AppendKey(nil)) {
		return s, fmt.Errorf("a machine with more than files, processes, open files and flocks: a call that waits, memory " +
			"of tasks, a status of an exit, or what is not durable")
	}
	return s, nil
}

// Anew returns a machine with m's files and the processes of start, which have nothing open there but their streams. It
// is as if these began after m's had ended.
func (m *Machine) Anew(start *Machine) (*Machine, error) {
	c := m.Clone()
	for _, pid := range c.Pids() {
		c.KillProc(pid)
	}
	c.mutSeldom().exits = nil
	for _, p := range start.procs {
		if len(p.fds) > len(standard) || c.findInode(p.cwd) == nil {
			return nil, fmt.Errorf("process %d has something open, or its directory has gone", p.pid)
		}
		c.addProc(*p)
	}
	return c, nil
}

// Of returns a machine with the files and processes of a snapshot, and m's clock and kind.
func (m *Machine) Of(s *Snapshot) *Machine {
	c := m.Clone()
	own := new(token)
	c.own, c.ownInodes, c.ownDescs, c.ownProcs = own, true, true, true
	c.inodes, c.descs, c.procs, c.marks, c.seen, c.shown = nil, nil, nil, nil, nil, nil
	c.nextInode, c.nextDesc = 0, 0
	for i := range s.Inodes {
		is := &s.Inodes[i]
		n := &inode{own: own, id: is.ID, kind: is.Kind, mode: is.Mode, uid: is.UID, gid: is.GID, nlink: is.Nlink,
			data:   is.Data,
			parent: is.Parent, atime: is.Times[0], mtime: is.Times[1], ctime: is.Times[2], btime: is.Times[3]}
		for _, e := range is.Names {
			n.names = append(n.names, name{e.Name, e.Inode})
		}
		c.inodes, c.nextInode = append(c.inodes, n), max(c.nextInode, is.ID)
	}
	for i := range s.Procs {
		ps := &s.Procs[i]
		p := &proc{own: own, pid: ps.Pid, parent: 1, uid: ps.UID, gid: ps.GID, start: ps.Start, cwd: ps.Cwd,
			pinned: ps.Pinned,
			fds:    slices.Clone(standard), seen: slices.Clone(ps.Seen)}
		for _, f := range ps.FDs {
			c.nextDesc++
			c.descs = append(c.descs, &desc{own: own, id: c.nextDesc, inode: f.Inode, refs: 1, flags: int32(f.Flags),
				offset: f.Offset, flock: uint8(f.Flock)})
			p.fds = append(p.fds, fdesc{fd: int32(f.FD), desc: c.nextDesc, cloexec: f.Cloexec})
		}
		for _, r := range ps.Records {
			owner := recordOwner{pid: p.pid}
			if r.FD >= 0 {
				owner = recordOwner{desc: p.fds[p.fdAt(r.FD)].desc}
			}
			n := c.inode(r.Inode)
			n.records = append(n.records, record{owner, F_WRLCK, r.Start, r.End})
		}
		c.procs = append(c.procs, p)
	}
	return c
}
