package fsfake

import (
	"slices"
)

// Power loss. A machine made with [Options.PowerLoss] remembers, beside what programs
// see, what may be on its disk instead. By default it follows what POSIX promises, not what
// ext4 happens to do, as the weak models of the crash-consistency literature do (Pillai et
// al., "All File Systems Are Not Created Equal", OSDI 2014; Mohan et al., "Finding
// Crash-Consistency Bugs with Bounded Black-Box Crash Testing", OSDI 2018):
//
//   - Of a file, every prefix of the writes and truncations since its last fsync(2) may be
//     on the disk; of a directory, every prefix of the changes of its entries since its
//     last fsync. Each file and each directory has a prefix of its own: a rename may be kept
//     and the contents of the renamed file lost, which is the empty file after a rename.
//   - Each block of 4096 bytes has a version of its own, and so has the size: a block
//     that was written later may be there alone, and what a file grew by may be zeros.
//   - fsync of a file keeps its contents, and not its name: a new file needs an fsync of
//     its directory. A write through O_SYNC or O_DSYNC is followed by one, until which power may be lost, too.
//   - A rename inside one directory is one change, also an exchange. A rename, link or
//     exchange between two directories changes each by itself: the file may come out with
//     both names, or with none. A directory has one name at most.
//   - A new inode comes with its kind, mode and owner, and a symlink with its target,
//     whenever its name is kept; modes, owners and times are what programs saw last.
//
// [Options.Disk] takes away what a file system never leaves: see disk.go. What
// the file systems do was seen in 60 000 cuts of real ones (Linux 6.18).
//
// Not among the legal states: a block of 4096 bytes torn in two, a file extended by garbage, and a disk
// that did not keep what it reported as synced.

// maxLossStates bounds how many combinations a loss of power is to be looked at in.
const maxLossStates = 4096

// unsynced is what an inode may be on the disk instead of what programs see: versions
// since the last fsync, newest first, each once. It is never changed in place.
type unsynced struct {
	data  []string // of a file
	names [][]name // of a directory
	// shrunk: it has become shorter since its last fsync. grown: longer. extended: longer by a write. again: it has
	// become what it was before, so that data does not show in which order it became shorter.
	shrunk, grown, extended, again bool
}

// keepData notes that a file whose contents have changed may still have the old ones.
func (m *Machine) keepData(n *inode, old string) {
	if !m.powerLoss {
		return
	}
	u, all := &unsynced{shrunk: len(n.data) < len(old), grown: len(n.data) > len(old)}, []string{old}
	if n.unsynced != nil {
		u.shrunk, u.grown = u.shrunk || n.unsynced.shrunk, u.grown || n.unsynced.grown
		u.extended, u.again = n.unsynced.extended, n.unsynced.again
		all = append(all, n.unsynced.data...)
	}
	if u.shrunk {
		m.shrink(n.id, len(n.data))
	}
	for _, v := range all {
		u.keep(v, n.data)
	}
	m.setOldData(n, u)
}

// keep notes an older version of a file that is now another one.
func (u *unsynced) keep(v, now string) {
	if v == now || slices.Contains(u.data, v) {
		u.again = true
		return
	}
	u.data = append(u.data, v)
}

// setOldData keeps the older versions of a file, if there are any, and what makes a difference on the disk.
func (m *Machine) setOldData(n *inode, u *unsynced) {
	r := m.disk.rules()
	u.shrunk = u.shrunk && r.blocks
	u.again = u.again && u.shrunk && r.cuts
	if n.unsynced = u; len(u.data) == 0 {
		n.unsynced = nil
	}
}

// keepNames notes that a directory whose entries have changed may still have the old ones.
func (m *Machine) keepNames(n *inode, old []name) {
	switch {
	case !m.powerLoss:
		return
	case m.disk.rules().ordered:
		m.log(n, old)
		return
	}
	all := [][]name{old}
	if n.unsynced != nil {
		all = append(all, n.unsynced.names...)
	}
	n.setOldNames(all, slices.Equal)
}

// setOldNames keeps the distinct ones of older entries, if there are any.
func (n *inode) setOldNames(all [][]name, same func(a, b []name) bool) {
	u := &unsynced{}
	for _, v := range all {
		known := same(v, n.names)
		for _, k := range u.names {
			known = known || same(v, k)
		}
		if !known {
			u.names = append(u.names, v)
		}
	}
	if n.unsynced = u; len(u.names) == 0 {
		n.unsynced = nil
	}
}

// oneChange makes one change of all that was done to a directory since it had these.
func (m *Machine) oneChange(dir InodeID, names []name, u *unsynced) {
	if m.powerLoss && !m.disk.rules().ordered {
		d := m.mutInode(dir)
		d.unsynced = u
		m.keepNames(d, names)
	}
}

// Flags of [CallFsync]; none is fsync(2).
const (
	// SyncData leaves out the names that a disk may keep with a file, as fdatasync(2) does. Of a directory names are
	// all that there is.
	SyncData = 1
	// SyncAll keeps everything, as sync(2) and syncfs(2) do; with descriptor -1 it is sync.
	SyncAll = 2
)

func (m *Machine) fsyncs(c *request) {
	switch {
	case c.op.Flags != SyncAll:
		m.fsync(c.d.inode, c.op.Flags)
	case m.powerLoss:
		m.sync(m.disk.rules().lazy)
	}
}

// fsync is fsync(2): an inode is on the disk as programs see it, whatever else is.
func (m *Machine) fsync(id InodeID, flags int) {
	if !m.powerLoss {
		return
	}
	if m.inode(id).unsynced != nil {
		m.mutInode(id).unsynced = nil
	}
	if flags != SyncData || m.inode(id).kind == KindDir {
		m.commit(id)
	} else {
		m.ahead(id)
	}
	m.sweep()
}

// finishSync ends a write through O_SYNC or O_DSYNC, when the next call begins: while it goes on, a disk may have a
// part of it.
func (m *Machine) finishSync() {
	s := m.mutSeldom()
	id, flags := s.syncing, 0
	if s.syncData {
		flags = SyncData
	}
	if s.syncing = 0; m.findInode(id) != nil {
		m.fsync(id, flags)
	}
}

// drop takes away what was not synced of the data of a file. It stays as long as it is, with zeros for what it grew by.
func (m *Machine) drop(id InodeID) {
	if u := m.inode(id).unsynced; u != nil && len(u.data) > 0 {
		n := m.mutInode(id)
		kept := u.data[len(u.data)-1]
		for _, v := range n.dataVersions() {
			kept = kept[:min(len(kept), len(v))]
		}
		n.data, n.unsynced = padded(kept, 0, len(n.data)), nil
		m.version++
		m.sweep()
	}
}

// Sync makes everything durable, as sync(2) and some patience do. It is for setting a
// disk up; programs have fsync, and sync with SyncAll.
func (m *Machine) Sync() { m.sync(false) }

// sync is Sync. A lazy one leaves what was only overwritten.
func (m *Machine) sync(lazy bool) {
	for _, n := range slices.Clone(m.inodes) {
		if u := n.unsynced; u != nil && !(lazy && n.kind != KindDir && !u.grown && !u.shrunk) {
			m.mutInode(n.id).unsynced = nil
		}
	}
	m.journal = nil
	if m.powerLoss {
		m.mutSeldom().syncing = 0
		m.sweep()
	}
}

// sweep is reap when power may be lost: it frees every inode that has neither a name nor a
// use, and that no legal state of the disk has either.
func (m *Machine) sweep() {
	m.mergeTwins()
	keep := make([]bool, len(m.inodes))
	m.reach(keep, rootID)
	for _, c := range m.journal {
		m.reach(keep, c.dir)
		for _, id := range []InodeID{c.old, c.moved} {
			if id != 0 {
				m.reach(keep, id)
			}
		}
	}
	for _, d := range m.descs {
		m.reach(keep, d.inode)
	}
	for _, p := range m.procs {
		m.reach(keep, p.cwd)
	}
	if !slices.Contains(keep, false) {
		return
	}
	var kept []*inode
	for i, n := range m.inodes {
		if keep[i] {
			kept = append(kept, n)
		}
	}
	m.owner()
	m.inodes, m.ownInodes = kept, true
}

func (m *Machine) reach(keep []bool, id InodeID) {
	at := m.inodeAt(id)
	if keep[at] {
		return
	}
	keep[at] = true
	n := m.inodes[at]
	if n.kind != KindDir {
		return
	}
	m.reach(keep, n.parent)
	for _, names := range n.nameVersions() {
		for _, e := range names {
			m.reach(keep, e.id)
		}
	}
}

// nameVersions lists what a directory's entries may be, newest first.
func (n *inode) nameVersions() [][]name {
	all := [][]name{n.names}
	if n.unsynced != nil {
		all = append(all, n.unsynced.names...)
	}
	return all
}

// dataVersions lists what a file's contents may be, newest first.
func (n *inode) dataVersions() []string {
	all := []string{n.data}
	if n.unsynced != nil {
		all = append(all, n.unsynced.data...)
	}
	return all
}

// mergeTwins drops versions of directories that differ from newer ones only in which of
// several equal files, all of them gone, they have. A lock file that is made and removed
// again and again then leaves one version, not one for each time.
func (m *Machine) mergeTwins() {
	for i := 0; i < len(m.inodes); i++ {
		n := m.inodes[i]
		if n.unsynced == nil || len(n.unsynced.names) < 2 {
			continue
		}
		c := *n
		c.setOldNames(n.unsynced.names, func(a, b []name) bool { return m.sameNames(n.id, a, b) })
		if len(c.unsynced.names) != len(n.unsynced.names) {
			m.mutInode(n.id).unsynced = c.unsynced
		}
	}
}

func (m *Machine) sameNames(dir InodeID, a, b []name) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].name != b[i].name || a[i].id != b[i].id && !m.twins(dir, a[i].id, b[i].id) {
			return false
		}
		for j := range i {
			if (a[i].id == a[j].id) != (b[i].id == b[j].id) {
				return false
			}
		}
	}
	return true
}

// twins reports whether two files are gone for good but for older versions of one
// directory, and equal.
func (m *Machine) twins(dir, a, b InodeID) bool {
	x, y := m.inode(a), m.inode(b)
	if x.kind == KindDir || x.nlink != 0 || y.nlink != 0 || x.linkable || y.linkable ||
		m.inUse(a) || m.inUse(b) || m.elsewhere(dir, a, b) {
		return false
	}
	return x.kind == y.kind && x.mode == y.mode && x.uid == y.uid && x.gid == y.gid && x.ino == y.ino &&
		x.atime == y.atime && x.mtime == y.mtime && x.ctime == y.ctime && x.btime == y.btime &&
		slices.Equal(x.dataVersions(), y.dataVersions())
}

// elsewhere reports whether another directory has or had one of two files.
func (m *Machine) elsewhere(dir, a, b InodeID) bool {
	for _, n := range m.inodes {
		if n.kind != KindDir || n.id == dir {
			continue
		}
		for _, names := range n.nameVersions() {
			for _, e := range names {
				if e.id == a || e.id == b {
					return true
				}
			}
		}
	}
	return false
}

// appendUnsynced appends the older versions of an inode that has any.
func (k *keyer) appendUnsynced(b []byte, u *unsynced) []byte {
	b = appendLen(b, len(u.data)<<4|int(bit(u.shrunk, 1)|bit(u.grown, 2)|bit(u.extended, 4)|bit(u.again, 8)))
	for _, s := range u.data {
		b = appendString(b, s)
	}
	b = appendLen(b, len(u.names))
	for _, names := range u.names {
		b = appendLen(b, len(names))
		for i := range names {
			b = appendString(b, names[i].name)
			b = k.inode(b, names[i].id)
		}
	}
	return b
}

// appendJournal appends the changes of names that a disk in one order may lose.
func (k *keyer) appendJournal(b []byte) []byte {
	if k.m.syncing != 0 {
		b = k.inode(append(b, 8|bit(k.m.syncData, 1)), k.m.syncing)
	}
	for i, c := range k.m.journal {
		same := i > 0 && k.m.journal[i-1].at == c.at
		b = appendString(append(b, bit(same, 1)|bit(c.old != 0, 2)|bit(c.moved != 0, 4)), c.name)
		b = k.inode(b, c.dir)
		if c.old != 0 {
			b = k.inode(b, c.old)
		}
		if c.moved != 0 {
			b = appendLen(k.inode(b, c.moved), c.size)
		}
	}
	return b
}
