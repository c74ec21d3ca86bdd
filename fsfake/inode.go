package fsfake

import (
	"io/fs"
	"slices"
	"syscall"
	"time"
)

// An InodeID identifies an inode to the tester, not to programs: it is never given
// twice along one lineage of clones, and a clone calls an inode what its original
// called it. 0 is no inode.
type InodeID int

// rootID is the inode of "/".
const rootID InodeID = 1

// A Kind is a type of file.
type Kind uint8

// The kinds of file that a machine has.
const (
	KindNone Kind = iota // no file
	KindFile
	KindDir
	KindSymlink
	KindFIFO
	KindSocket // the name that bind(2) gives a socket
)

// String returns "file", "directory", "symlink", "FIFO", "socket" or "none".
func (k Kind) String() string {
	return [...]string{"none", "file", "directory", "symlink", "FIFO", "socket"}[k]
}

type inode struct {
	own  *token
	id   InodeID
	kind Kind
	// linkable: made by O_TMPFILE without O_EXCL, so that linkat may give it a name
	// although it has none.
	linkable bool
	mode     uint32 // permission bits, with 07000
	uid, gid uint32
	nlink    uint32 // names; for a directory 2 and its subdirectories, 0 once removed
	data     string // contents of a file, target of a symlink
	names    []name // of a directory, sorted
	parent   InodeID
	// ino is the number as programs see it; 0 under InodesCanonical. With Options.ChildPids its upper half is the family
	// that has made the file.
	ino      uint64
	records  []record
	unsynced *unsynced // what may be on the disk instead; nil for none

	atime, mtime, ctime, btime int64
	// Of an overlay; see overlay.go. imageLinks are the links of a file of the image, which stay;
	// twin stands for the number of a file that has several names in the image, 0 for its own.
	layer      layer
	imageLinks uint32
	twin       InodeID
	// lookedAt: under TimesMultigrain, stat(2) has shown the times since they last changed.
	lookedAt bool
	// shared: a shared mapping shows it, or has shown it. See [Shares].
	shared sharing
}

// stamp returns the time of a change of n, which must be this machine's own.
func (m *Machine) stamp(n *inode) int64 {
	m.copyUp(n)
	if n.lookedAt {
		n.lookedAt = false
		m.clock++
	}
	return m.changeTime()
}

// changeTime is the time of what is changed now.
func (m *Machine) changeTime() int64 {
	if m.times == TimesDiffer && !m.stamped {
		m.stamped = true
		m.clock += int64(time.Second)
	}
	return m.clock - m.late
}

// modify stamps a change of an inode's contents.
func (m *Machine) modify(n *inode) {
	n.mtime = m.stamp(n)
	n.ctime = n.mtime
}

// A name is a directory entry.
type name struct {
	name string
	id   InodeID
}

// newInode makes an inode without a name; the caller sees to its link count.
func (m *Machine) newInode(k Kind, mode, uid, gid uint32) *inode {
	ownSlice(m, &m.inodes, &m.ownInodes, 1)
	m.nextInode++
	now := m.changeTime()
	n := &inode{
		own: m.owner(), id: m.nextInode, kind: k, mode: mode, uid: uid, gid: gid,
		atime: now, mtime: now, ctime: now, btime: now,
	}
	m.number(n)
	m.inodes = append(m.inodes, n)
	return n
}

// number gives a new inode its number, under policies that number inodes as they are made.
func (m *Machine) number(n *inode) {
	switch m.policy {
	case InodesReuse:
		n.ino = m.lowestIno()
	case InodesUnique:
		n.ino = m.nextIno
		m.nextIno++
	}
}

func (m *Machine) lowestIno() uint64 {
	lowest := max(2, m.imageInos) // the files of an image are there for good
	var few [64]bool
	taken := few[:]
	if len(m.inodes) >= len(few) {
		taken = make([]bool, len(m.inodes)+1)
	}
	for _, n := range m.inodes {
		if above := n.ino&inoSlot - lowest; above < uint64(len(taken)) {
			taken[above] = true
		}
	}
	return lowest + uint64(slices.Index(taken, false))
}

// adopt makes dir the parent of the directory child.
func (m *Machine) adopt(dir, child InodeID) {
	c := m.mutInode(child)
	c.parent, c.nlink = dir, 2
	m.mutInode(dir).nlink++
}

// reap frees an inode that has neither a name nor a use. It is to be called whenever
// one of them has gone.
func (m *Machine) reap(id InodeID) {
	if m.powerLoss {
		m.sweep()
		return
	}
	i := m.inodeAt(id)
	n := m.inodes[i]
	if n.nlink != 0 || m.inUse(id) {
		return
	}
	ownSlice(m, &m.inodes, &m.ownInodes, 0)
	m.inodes = append(m.inodes[:i], m.inodes[i+1:]...)
	if n.kind == KindDir {
		m.reap(n.parent) // ".." of a removed directory keeps its parent until here
	}
}

// inUse reports whether a description, a working directory or a ".." refers to an
// inode. Counting such uses would copy the inode at every open.
func (m *Machine) inUse(id InodeID) bool {
	for _, d := range m.descs {
		if d.inode == id {
			return true
		}
	}
	for _, p := range m.procs {
		if p.cwd == id {
			return true
		}
	}
	for _, n := range m.inodes {
		if n.parent == id {
			return true
		}
	}
	return false
}

// lookup returns what a name stands for in a directory, or 0.
func (n *inode) lookup(s string) InodeID {
	if len(n.names) <= 16 { // strings of different lengths are unequal at once
		for i := range n.names {
			if n.names[i].name == s {
				return n.names[i].id
			}
		}
		return 0
	}
	if i, ok := n.find(s); ok {
		return n.names[i].id
	}
	return 0
}

// find returns the position of a name, and whether it is there.
func (n *inode) find(s string) (int, bool) {
	lo, hi := 0, len(n.names)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.names[mid].name < s {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(n.names) && n.names[lo].name == s
}

// addName enters a name in a directory, in place of one that is there.
func (m *Machine) addName(dir InodeID, s string, id InodeID) {
	d := m.mutInode(dir)
	old := d.names
	i, ok := d.find(s)
	if ok {
		d.names = append([]name(nil), d.names...)
		d.names[i].id = id
	} else {
		d.names = insert(d.names, i, name{s, id})
	}
	m.keepNames(d, old)
	m.entered(dir, s)
	m.modify(d)
	m.version++
}

// dropName removes a name from a directory.
func (m *Machine) dropName(dir InodeID, s string) {
	d := m.mutInode(dir)
	i, _ := d.find(s)
	old := d.names
	d.names = remove(d.names, i)
	m.keepNames(d, old)
	m.left(dir, s)
	m.modify(d)
	m.version++
}

// moveName gives an inode another name in the same directory, in place of one that is
// there.
func (m *Machine) moveName(dir InodeID, from, to string) {
	d := m.mutInode(dir)
	names := make([]name, 0, len(d.names)) // there are no more than before
	id := d.lookup(from)
	placed := false
	for _, e := range d.names {
		if !placed && e.name >= to {
			names, placed = append(names, name{to, id}), true
		}
		if e.name != from && e.name != to {
			names = append(names, e)
		}
	}
	if !placed {
		names = append(names, name{to, id})
	}
	old := d.names
	d.names = names
	m.keepNames(d, old)
	m.left(dir, from)
	m.entered(dir, to)
	m.modify(d)
	m.version++
}

// dropLink takes one link away from an inode that is not a directory.
func (m *Machine) dropLink(id InodeID) {
	n := m.mutInode(id)
	n.nlink--
	if n.layer != ofImage { // whose name is hidden, and the file as it was
		n.ctime = m.stamp(n)
	}
	m.reap(id)
}

// forget takes a removed, empty directory away from its parent.
func (m *Machine) forget(dir, child InodeID) {
	m.mutInode(dir).nlink--
	c := m.mutInode(child)
	c.nlink = 0
	if c.layer == above {
		c.ctime = m.stamp(c)
	}
	m.reap(child)
}

// fileMode translates mode bits of the kernel to those of package fs.
func (n *inode) fileMode() fs.FileMode {
	f := fs.FileMode(n.mode & 0o777)
	switch n.kind {
	case KindDir:
		f |= fs.ModeDir
	case KindSymlink:
		f |= fs.ModeSymlink
	case KindFIFO:
		f |= fs.ModeNamedPipe
	case KindSocket:
		f |= fs.ModeSocket
	}
	if n.mode&0o1000 != 0 {
		f |= fs.ModeSticky
	}
	if n.mode&0o2000 != 0 {
		f |= fs.ModeSetgid
	}
	if n.mode&0o4000 != 0 {
		f |= fs.ModeSetuid
	}
	return f
}

// size is what st_size says. Directories say 4096, and 0 once removed, as on ext4;
// other file systems differ.
func (n *inode) size() int64 {
	switch {
	case n.kind == KindFIFO:
		return 0
	case n.kind != KindDir:
		return int64(len(n.data))
	case n.nlink == 0:
		return 0
	}
	return 4096
}

// Bits of a permission check.
const (
	mayExec  = 1
	mayWrite = 2
	mayRead  = 4
)

// may reports whether p has the rights of mask. Root has them all: nothing here asks
// to execute a file, the one thing root may be denied. There are no supplementary
// groups.
func (n *inode) may(p *proc, mask uint32) bool {
	switch {
	case p.uid == 0:
		return true
	case p.uid == n.uid:
		return n.mode>>6&mask == mask
	case p.gid == n.gid:
		return n.mode>>3&mask == mask
	default:
		return n.mode&mask == mask
	}
}

// mayCreate checks the right to make a name in a directory.
func (n *inode) mayCreate(p *proc) syscall.Errno {
	if !n.may(p, mayWrite|mayExec) {
		return EACCES
	}
	return 0
}

// mayDelete checks the right to remove the name of victim from a directory, and that
// victim is a directory exactly when wantDir, in the kernel's order.
func (n *inode) mayDelete(p *proc, victim *inode, wantDir bool) syscall.Errno {
	switch {
	case !n.may(p, mayWrite|mayExec):
		return EACCES
	case n.mode&0o1000 != 0 && p.uid != 0 && p.uid != victim.uid && p.uid != n.uid:
		return EPERM
	case wantDir && victim.kind != KindDir:
		return ENOTDIR
	case !wantDir && victim.kind == KindDir:
		return EISDIR
	}
	return 0
}
