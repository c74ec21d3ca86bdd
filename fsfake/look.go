package fsfake

import (
	"os"
	"slices"
)

// Looking at a machine from outside: no call is made, nothing changes, no process sees
// an inode number for the first time. For invariants, traces and reports.

// An FDRef is a descriptor of a process.
type FDRef struct{ Pid, FD int }

// A LockView is a flock on a file.
type LockView struct {
	Mode    int     // LOCK_SH or LOCK_EX
	Holders []FDRef // every descriptor of the description that holds it
}

// A RecordView is a record lock on a file.
type RecordView struct {
	Lock RecordLock
	OFD  bool
	// Holders of an OFD lock: every descriptor of its description.
	Holders []FDRef
}

// A FileView is everything about an inode.
type FileView struct {
	ID       InodeID
	Kind     Kind // KindNone when the inode is gone
	Mode     os.FileMode
	UID, GID uint32
	Nlink    int
	Content  string   // of a file
	Large    int      // the number of Content where a large file held it at the start; see KeepStart
	Target   string   // of a symlink
	Names    []string // in a directory
	Openers  []FDRef
	Flocks   []LockView
	Records  []RecordView
	Atime    int64
	Mtime    int64
	Ctime    int64
	Btime    int64
}

// An FDView is a descriptor and what is behind it.
type FDView struct {
	FD int
	// Desc tells open file descriptions apart: it is equal for descriptors that share one,
	// by dup or fork, and is never given twice along one lineage of clones.
	Desc        int
	ID          InodeID
	Flags       int // access mode, O_APPEND and O_PATH
	CloseOnExec bool
	Offset      int64
	Flock       int // LOCK_SH, LOCK_EX or 0
	// Shared counts the descriptors of the description, in this process and others.
	Shared int
}

// Lookup resolves a path as root in "/", following symlinks.
func (m *Machine) Lookup(path string) (InodeID, bool) {
	id, e := m.lookup(&proc{cwd: rootID}, path, true)
	return id, e == 0
}

// LookupName resolves a path as root in "/" to what stands at the name itself: a symlink
// in the last component is not followed.
func (m *Machine) LookupName(path string) (InodeID, bool) {
	id, e := m.lookup(&proc{cwd: rootID}, path, false)
	return id, e == 0
}

// Cwd returns the path of a process's working directory, or "" when the process does not run
// or its directory has been removed.
func (m *Machine) Cwd(pid int) string {
	p := m.proc(pid)
	if p == nil {
		return ""
	}
	if names := m.Paths(p.cwd); len(names) > 0 {
		return names[0]
	}
	return ""
}

// FDInode returns the inode that a descriptor is open on.
func (m *Machine) FDInode(pid, fd int) (InodeID, bool) {
	if p := m.proc(pid); p != nil {
		if d := m.descOf(p, fd); d != nil {
			return d.inode, true
		}
	}
	return 0, false
}

// View describes an inode.
func (m *Machine) View(id InodeID) FileView {
	n := m.findInode(id)
	if n == nil {
		return FileView{ID: id}
	}
	v := FileView{
		ID: id, Kind: n.kind, Mode: n.fileMode(), UID: n.uid, GID: n.gid, Nlink: int(n.nlink),
		Atime: n.atime, Mtime: n.mtime, Ctime: n.ctime, Btime: n.btime,
	}
	switch n.kind {
	case KindFile:
		v.Content, v.Large = n.data, m.large.number(n.data)
	case KindSymlink:
		v.Target = n.data
	}
	for _, e := range n.names {
		v.Names = append(v.Names, e.name)
	}
	for _, d := range m.descs {
		if d.inode != id {
			continue
		}
		refs := m.holders(d.id)
		v.Openers = append(v.Openers, refs...)
		if d.flock != 0 {
			v.Flocks = append(v.Flocks, LockView{int(d.flock), refs})
		}
	}
	// Descriptions are in no order that means anything; descriptors are.
	slices.SortFunc(v.Openers, compareRefs)
	slices.SortFunc(v.Flocks, func(a, b LockView) int { return slices.CompareFunc(a.Holders, b.Holders, compareRefs) })
	for _, r := range n.records {
		rv := RecordView{Lock: r.public(), OFD: r.owner.pid == 0}
		if rv.OFD {
			rv.Holders = m.holders(r.owner.desc)
		}
		v.Records = append(v.Records, rv)
	}
	return v
}

func compareRefs(a, b FDRef) int {
	if a.Pid != b.Pid {
		return a.Pid - b.Pid
	}
	return a.FD - b.FD
}

// holders lists the descriptors of a description.
func (m *Machine) holders(id descID) []FDRef {
	var refs []FDRef
	for _, p := range m.procs {
		for _, f := range p.fds {
			if f.desc == id {
				refs = append(refs, FDRef{p.pid, int(f.fd)})
			}
		}
	}
	return refs
}

// FDs lists the descriptors of a process, but for the standard streams and their duplicates.
func (m *Machine) FDs(pid int) []FDView {
	p := m.proc(pid)
	if p == nil {
		return nil
	}
	var vs []FDView
	for _, f := range p.fds {
		if f.outside() {
			continue
		}
		d := m.desc(f.desc)
		vs = append(vs, FDView{
			FD: int(f.fd), Desc: int(f.desc), ID: d.inode, Flags: int(d.flags & (O_ACCMODE | O_APPEND | O_PATH)), CloseOnExec: f.cloexec,
			Offset: d.offset, Flock: int(d.flock), Shared: len(m.holders(f.desc)),
		})
	}
	return vs
}

// Pids lists the running processes in order.
func (m *Machine) Pids() []int {
	var pids []int
	for _, p := range m.procs {
		pids = append(pids, p.pid)
	}
	return pids
}

// Paths lists every absolute path of an inode in order, through no symlink.
func (m *Machine) Paths(id InodeID) []string {
	if id == rootID {
		return []string{"/"}
	}
	return m.pathsBelow(rootID, "/", id, nil)
}

func (m *Machine) pathsBelow(dir InodeID, prefix string, id InodeID, to []string) []string {
	for _, e := range m.inode(dir).names {
		if e.id == id {
			to = append(to, prefix+e.name)
		}
		if m.inode(e.id).kind == KindDir {
			to = m.pathsBelow(e.id, prefix+e.name+"/", id, to)
		}
	}
	return to
}

// A NameView is a name on the disk and the inode that stands there.
type NameView struct {
	Path string
	ID   InodeID
}

// Tree lists every absolute path on the disk, a directory before what is in it, the names
// of a directory in order. It goes through no symlink.
func (m *Machine) Tree() []NameView {
	return m.treeBelow(rootID, "/", []NameView{{"/", rootID}})
}

func (m *Machine) treeBelow(dir InodeID, prefix string, to []NameView) []NameView {
	for _, e := range m.inode(dir).names {
		to = append(to, NameView{prefix + e.name, e.id})
		if m.inode(e.id).kind == KindDir {
			to = m.treeBelow(e.id, prefix+e.name+"/", to)
		}
	}
	return to
}

// WaitsOn returns the inode whose lock a blocked call of a task waits for. It is false
// for a task that is not blocked, and for one that waits for a cell.
func (m *Machine) WaitsOn(t Task) (InodeID, bool) {
	if p := m.proc(t.Pid); p != nil {
		if i := p.waiting(t.N); i >= 0 && p.waits[i].desc != 0 {
			return m.desc(p.waits[i].desc).inode, true
		}
	}
	return 0, false
}

// InTheWay lists whose locks stand against a lock call of a task, be it blocked in the
// call or about to make it: for flock and OFD locks the descriptors of the descriptions
// that hold them, for record locks of a process that process, with -1 for a descriptor.
// It is empty when nothing stands in the way, and for calls that lock nothing.
func (m *Machine) InTheWay(t Task, op Op) []FDRef {
	p := m.proc(t.Pid)
	if p == nil {
		return nil
	}
	d := m.descOf(p, op.FD)
	if i := p.waiting(t.N); i >= 0 && p.waits[i].desc != 0 {
		d = m.desc(p.waits[i].desc)
	}
	if d == nil {
		return nil
	}
	switch {
	case op.Call == CallFlock:
		return m.flocksAgainst(d, flockMode(op.Flags))
	case op.Call.Is(Records):
		return m.recordsAgainst(d, ownerOf(p.pid, &op, d.id), &op)
	}
	return nil
}

func (m *Machine) flocksAgainst(d *desc, mode int) []FDRef {
	var refs []FDRef
	for _, o := range m.descs {
		if o.inode == d.inode && o.id != d.id && o.flock != 0 && (mode == LOCK_EX || mode > 0 && o.flock == LOCK_EX) {
			refs = append(refs, m.holders(o.id)...)
		}
	}
	return refs
}

func (m *Machine) recordsAgainst(d *desc, owner recordOwner, op *Op) []FDRef {
	r, e := rangeOf(owner, op)
	if e != 0 || r.typ == F_UNLCK {
		return nil
	}
	var refs []FDRef
	for _, o := range m.inode(d.inode).records {
		switch {
		case !o.conflicts(r):
		case o.owner.pid != 0:
			refs = append(refs, FDRef{o.owner.pid, -1})
		default:
			refs = append(refs, m.holders(o.owner.desc)...)
		}
	}
	return refs
}
