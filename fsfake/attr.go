package fsfake

import (
	"slices"
	"syscall"
)

// stat is stat(2), and lstat(2) when not follow.
func (m *Machine) stat(p *proc, op *Op, follow bool, st *Stat) syscall.Errno {
	id, e := m.lookup(p, op.Path, follow)
	if e == 0 {
		m.statOf(p, id, op.Flags, st)
	}
	return e
}

// device is the st_dev of the one file system there is.
const device = 1

// statOf tells of an inode what the caller looks at.
func (m *Machine) statOf(p *proc, id InodeID, look int, st *Stat) {
	n := m.inode(id)
	if m.times == TimesMultigrain && !n.lookedAt { // whatever it was asked for
		n = m.mutInode(id)
		n.lookedAt = true
	}
	if look != 0 {
		*st = Stat{Dev: device, Nlink: m.linksOf(n), Mode: n.fileMode(), UID: n.uid, GID: n.gid, Size: n.size()}
		if look&lookDirIno != 0 && n.kind == KindDir {
			st.Ino = m.inoFor(p, n)
		}
		return
	}
	*st = Stat{
		Ino: m.inoFor(p, n), Dev: device, Nlink: m.linksOf(n), Mode: n.fileMode(),
		UID: n.uid, GID: n.gid, Size: n.size(),
		Atime: n.atime, Mtime: n.mtime, Ctime: n.ctime, Btime: n.btime,
	}
}

// linksOf is how many links stat(2) shows.
func (m *Machine) linksOf(n *inode) uint32 {
	if m.sealed {
		return n.overlayLinks()
	}
	if m.dirLinksHidden && n.kind == KindDir {
		return min(n.nlink, 1)
	}
	return n.nlink
}

// inoFor returns the number that p sees for an inode. Under InodesCanonical and
// InodesFirstSeen the first sight makes the number; with Options.ChildPids it is [Machine.oneNumber].
func (m *Machine) inoFor(p *proc, n *inode) uint64 {
	seen, id := m.seen, n.shownAs()
	own := m.policy != InodesFirstSeen
	switch {
	case m.childPids > 0:
		return m.oneNumber(n)
	case m.policy == InodesReuse, m.policy == InodesUnique:
		return n.ino
	case m.policy == InodesCanonical:
		seen = p.seen
	}
	if i := slices.Index(seen, id); i >= 0 {
		return uint64(i + 1)
	}
	at := slices.Index(seen, forgotten)
	if at < 0 {
		at, seen = len(seen), insert(seen, len(seen), id)
	} else {
		seen = slices.Clone(seen)
		seen[at] = id
	}
	if own {
		m.mutProc(p.pid).seen = seen
	} else {
		m.seen = seen
		m.version++ // another file will have another number
		m.numbered++
	}
	return uint64(at + 1)
}

// owns reports whether p may change the attributes of n.
func (n *inode) ownedBy(p *proc) bool { return p.uid == 0 || p.uid == n.uid }

// utimes is utimensat(2) with two times. When neither is to change, the kernel does not
// even look at the path.
func (m *Machine) utimes(p *proc, op *Op, follow bool) syscall.Errno {
	if op.Time == UTIME_OMIT && op.Time2 == UTIME_OMIT {
		return 0
	}
	id, e := m.lookup(p, op.Path, follow)
	if e != 0 {
		return e
	}
	return m.setTimes(p, id, op.Time, op.Time2)
}

func (m *Machine) setTimes(p *proc, id InodeID, atime, mtime int64) syscall.Errno {
	switch n := m.inode(id); {
	case n.ownedBy(p):
	case atime != UTIME_NOW || mtime != UTIME_NOW:
		return EPERM
	case !n.may(p, mayWrite): // who may write may say that it was now
		return EACCES
	}
	n := m.mutInode(id)
	n.ctime = m.stamp(n)
	for _, set := range []struct {
		of *int64
		to int64
	}{{&n.atime, atime}, {&n.mtime, mtime}} {
		switch set.to {
		case UTIME_OMIT:
		case UTIME_NOW:
			*set.of = n.ctime
		default:
			*set.of = set.to
		}
	}
	m.version++
	return 0
}

// chmod is chmod(2).
func (m *Machine) chmod(p *proc, path string, mode uint32) syscall.Errno {
	id, e := m.lookup(p, path, true)
	if e != 0 {
		return e
	}
	return m.setMode(p, id, mode)
}

// setMode is fchmod(2).
func (m *Machine) setMode(p *proc, id InodeID, mode uint32) syscall.Errno {
	n := m.inode(id)
	if !n.ownedBy(p) {
		return EPERM
	}
	mode &= 0o7777
	if p.uid != 0 && p.gid != n.gid {
		mode &^= 0o2000
	}
	n = m.mutInode(id)
	n.mode, n.ctime = mode, m.stamp(n)
	m.version++
	return 0
}

// chown is chown(2), or lchown(2).
func (m *Machine) chown(p *proc, op *Op, follow bool) syscall.Errno {
	id, e := m.lookup(p, op.Path, follow)
	if e != 0 {
		return e
	}
	return m.setOwner(p, id, op.Off, op.Len)
}

// setOwner is fchown(2); -1 leaves a value as it is.
func (m *Machine) setOwner(p *proc, id InodeID, uid, gid int64) syscall.Errno {
	n := m.inode(id)
	newUID, newGID := n.uid, n.gid
	if uid != -1 {
		newUID = uint32(uid)
		if p.uid != 0 && (p.uid != n.uid || newUID != n.uid) {
			return EPERM
		}
	}
	if gid != -1 {
		newGID = uint32(gid)
		if p.uid != 0 && (p.uid != n.uid || newGID != p.gid && newGID != n.gid) {
			return EPERM
		}
	}
	var drop uint32
	if n.kind != KindDir { // whoever gives a program away takes its privileges off first
		drop = n.privileges(p)
	}
	if drop != 0 && !n.ownedBy(p) {
		return EPERM // a change of mode, also when the owner is to stay
	}
	n = m.mutInode(id)
	n.uid, n.gid, n.ctime = newUID, newGID, m.stamp(n)
	n.mode &^= drop
	m.version++
	return 0
}
