package fsfake

import "syscall"

// Flags of open(2) that change nothing here, but that writes are durable where power may be lost: durability, blocking
// on devices, terminals, 32-bit file sizes.
const ignoredFlags = O_SYNC | O_DSYNC | O_NONBLOCK | O_NOCTTY | O_LARGEFILE

const tmpfileBit = O_TMPFILE &^ O_DIRECTORY

const knownFlags = O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND |
	O_NOFOLLOW | O_CLOEXEC | O_TMPFILE | O_NOATIME | ignoredFlags

// pathFlags are the flags that O_PATH leaves.
const pathFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

// open is open(2).
func (m *Machine) open(p *proc, op *Op, r *Result) {
	f := op.Flags
	if f&O_PATH != 0 {
		f &= pathFlags
	}
	extra := f &^ (knownFlags | O_PATH)
	switch {
	case extra != 0:
		*r = unmodelled("open with flags %#x", extra)
		return
	case f&O_ACCMODE == O_ACCMODE:
		*r = unmodelled("open with O_WRONLY|O_RDWR")
		return
	}
	id, e := m.openFile(p, op, f)
	if e != 0 {
		r.Errno = e
		return
	}
	if f&O_TRUNC != 0 && m.showsElsewhere(id, nil, r) {
		return
	}
	d := desc{inode: id, flags: statusFlags(f)}
	if m.inode(id).kind == KindFIFO && f&O_PATH == 0 {
		r.Value = m.joinFIFO(&d)
	}
	r.N = int64(m.newDesc(p.pid, d, f&O_CLOEXEC != 0))
}

// statusFlags are the flags of an open that F_GETFL shows later.
func statusFlags(f int) int32 {
	f &^= O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC
	if f&O_SYNC != 0 {
		f |= O_DSYNC // which O_SYNC contains
	}
	if f&O_PATH == 0 {
		f |= O_LARGEFILE
	}
	return int32(f)
}

// openFile finds or makes what open(2) is to open.
func (m *Machine) openFile(p *proc, op *Op, f int) (InodeID, syscall.Errno) {
	if e := checkOpenFlags(f); e != 0 {
		return 0, e
	}
	if e := start(op.Path); e != 0 {
		return 0, e
	}
	if _, _, ok := p.freeFD(0); !ok {
		return 0, EMFILE
	}
	switch {
	case f&tmpfileBit != 0:
		return m.openTemp(p, op)
	case f&O_CREAT != 0:
		return m.openCreate(p, op)
	}
	return m.openOld(p, op.Path, f)
}

func checkOpenFlags(f int) syscall.Errno {
	switch {
	case f&tmpfileBit != 0 && f&O_DIRECTORY == 0,
		f&tmpfileBit != 0 && f&O_CREAT != 0,
		f&tmpfileBit != 0 && f&O_ACCMODE == O_RDONLY,
		f&O_DIRECTORY != 0 && f&O_CREAT != 0: // since Linux 6.4
		return EINVAL
	}
	return 0
}

// openOld opens what is there.
func (m *Machine) openOld(p *proc, path string, f int) (InodeID, syscall.Errno) {
	id, e := m.lookup(p, path, f&O_NOFOLLOW == 0)
	if e != 0 {
		return 0, e
	}
	return id, m.openInode(p, id, f)
}

// openCreate opens what is there or makes a file. It goes through symlinks, dangling
// ones too, unless told otherwise by O_EXCL or O_NOFOLLOW.
func (m *Machine) openCreate(p *proc, op *Op) (InodeID, syscall.Errno) {
	dir, path, e := m.from(p, op.Path)
	if e != 0 {
		return 0, e
	}
	w := walker{m: m, p: p}
	for {
		pl, e := w.parent(dir, path)
		if e != 0 {
			return 0, e
		}
		if pl.slash && pl.kind == lastName {
			return 0, EISDIR
		}
		if e := w.last(&pl); e != 0 {
			return 0, e
		}
		if pl.id == 0 {
			return m.createFile(p, pl, op.Mode)
		}
		if e := w.ends(pl.id); e != 0 {
			return 0, e
		}
		n := m.inode(pl.id)
		if n.kind == KindSymlink && op.Flags&(O_EXCL|O_NOFOLLOW) == 0 {
			if e := w.countLink(); e != 0 {
				return 0, e
			}
			dir, path = pl.dir, n.data
			continue
		}
		switch {
		case op.Flags&O_EXCL != 0:
			return 0, EEXIST
		case n.kind == KindDir:
			return 0, EISDIR
		case (n.kind == KindSymlink || n.kind == KindSocket) && strangeInSticky(p, m.inode(pl.dir), n):
			return 0, EACCES
		}
		return n.id, m.openInode(p, n.id, op.Flags)
	}
}

// strangeInSticky: what belongs neither to the caller nor to the owner of its sticky,
// world-writable directory may not be opened with O_CREAT, by root neither. For files that
// depends on fs.protected_regular, for FIFOs on fs.protected_fifos; for symlinks and sockets it does not.
func strangeInSticky(p *proc, dir, n *inode) bool {
	return dir.mode&0o1002 == 0o1002 && n.uid != dir.uid && n.uid != p.uid
}

func (m *Machine) createFile(p *proc, pl place, mode uint32) (InodeID, syscall.Errno) {
	d := m.inode(pl.dir)
	if e := d.mayCreate(p); e != 0 {
		return 0, e
	}
	n := m.createIn(p, d, KindFile, mode&0o7777&^m.umask)
	n.nlink = 1
	m.addName(pl.dir, pl.name, n.id)
	return n.id, 0
}

// createIn makes an inode that belongs to p, or as a set-group-id directory wants it.
func (m *Machine) createIn(p *proc, dir *inode, k Kind, mode uint32) *inode {
	gid := p.gid
	if dir.mode&0o2000 != 0 {
		gid = dir.gid
		if k == KindDir {
			mode |= 0o2000
		} else if mode&0o2010 == 0o2010 && p.uid != 0 && p.gid != gid {
			mode &^= 0o2000
		}
	}
	n := m.newInode(k, mode, p.uid, gid)
	m.madeBy(p, n)
	return n
}

// openTemp is open with O_TMPFILE: a file without a name in the directory's file
// system.
func (m *Machine) openTemp(p *proc, op *Op) (InodeID, syscall.Errno) {
	dir, path, e := m.from(p, op.Path)
	if e != 0 {
		return 0, e
	}
	w := walker{m: m, p: p}
	pl, e := w.resolve(dir, path, op.Flags&O_NOFOLLOW == 0)
	if e != 0 {
		return 0, e
	}
	d := m.inode(pl.id)
	if d.kind != KindDir {
		return 0, ENOTDIR
	}
	if e := d.mayCreate(p); e != 0 {
		return 0, e
	}
	m.copyUpID(pl.id)
	n := m.createIn(p, d, KindFile, op.Mode&0o7777&^m.umask)
	n.linkable = op.Flags&O_EXCL == 0
	return n.id, 0
}

// openInode makes the checks of an open of something that exists, in the kernel's
// order, and truncates only when they have all passed.
func (m *Machine) openInode(p *proc, id InodeID, f int) syscall.Errno {
	n := m.inode(id)
	var mask uint32
	if f&O_ACCMODE != O_WRONLY {
		mask |= mayRead
	}
	if f&O_ACCMODE != O_RDONLY || f&O_TRUNC != 0 {
		mask |= mayWrite
	}
	switch {
	case f&O_DIRECTORY != 0 && n.kind != KindDir:
		return ENOTDIR
	case f&O_PATH != 0:
		return 0
	case n.kind == KindSymlink:
		return ELOOP
	case n.kind == KindDir && mask&mayWrite != 0:
		return EISDIR
	case !n.may(p, mask):
		return EACCES
	case f&O_NOATIME != 0 && !n.ownedBy(p):
		return EPERM
	case n.kind == KindSocket:
		return ENXIO
	case n.kind == KindFIFO:
		return m.openFIFO(id, f)
	}
	if mask&mayWrite != 0 {
		m.copyUpID(id)
	}
	if f&O_TRUNC != 0 {
		m.setSize(p, id, 0)
	}
	return 0
}
