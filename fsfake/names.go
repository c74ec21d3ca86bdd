package fsfake

import "syscall"

// unlink is unlink(2). A file that is open lives on without a name.
func (m *Machine) unlink(p *proc, path string) syscall.Errno {
	pl, e := m.lookupOld(p, path, EISDIR, EISDIR, EISDIR)
	if e != 0 {
		return e
	}
	n := m.inode(pl.id)
	if pl.slash {
		if n.kind == KindDir {
			return EISDIR
		}
		return ENOTDIR
	}
	if e := m.inode(pl.dir).mayDelete(p, n, false); e != 0 {
		return e
	}
	m.dropName(pl.dir, pl.name)
	m.dropLink(pl.id)
	return 0
}

// rmdir is rmdir(2).
func (m *Machine) rmdir(p *proc, path string) syscall.Errno {
	pl, e := m.lookupOld(p, path, EINVAL, ENOTEMPTY, EBUSY)
	if e != 0 {
		return e
	}
	n := m.inode(pl.id)
	if e := m.inode(pl.dir).mayDelete(p, n, true); e != 0 {
		return e
	}
	if len(n.names) != 0 {
		return ENOTEMPTY
	}
	m.dropName(pl.dir, pl.name)
	m.forget(pl.dir, pl.id)
	return 0
}

// mkdir is mkdir(2).
func (m *Machine) mkdir(p *proc, path string, mode uint32) syscall.Errno {
	pl, e := m.lookupNew(p, path, true)
	if e != 0 {
		return e
	}
	n := m.createIn(p, m.inode(pl.dir), KindDir, mode&0o1777&^m.umask)
	m.adopt(pl.dir, n.id)
	m.addName(pl.dir, pl.name, n.id)
	return 0
}

// symlink is symlink(2): path is to point to target.
func (m *Machine) symlink(p *proc, target, path string) syscall.Errno {
	if e := start(target); e != 0 {
		return e
	}
	pl, e := m.lookupNew(p, path, false)
	if e != 0 {
		return e
	}
	n := m.createIn(p, m.inode(pl.dir), KindSymlink, 0o777)
	n.nlink, n.data = 1, target
	m.addName(pl.dir, pl.name, n.id)
	return 0
}

// link is link(2) and linkat(2). It follows a symlink only with AT_SYMLINK_FOLLOW; else that gets the second name itself.
func (m *Machine) link(p *proc, op *Op, r *Result) {
	if op.Flags&^AT_SYMLINK_FOLLOW != 0 {
		*r = unmodelled("linkat with flags %#x", op.Flags)
		return
	}
	id, e := m.lookup(p, op.Path, op.Flags != 0)
	if e == 0 {
		e = m.linkInode(p, id, op.Path2)
	}
	r.Errno = e
}

// linkFD is linkat(fd, "", AT_FDCWD, path, AT_EMPTY_PATH), which Linux 6.10 and later
// grant to whoever opened the file: this process, since its last execve. Root may always.
func (m *Machine) linkFD(p *proc, d *desc, path string) syscall.Errno {
	if p.inherited(d.id) {
		return ENOENT
	}
	return m.linkInode(p, d.inode, path)
}

func (m *Machine) linkInode(p *proc, id InodeID, path string) syscall.Errno {
	pl, e := m.lookupNew(p, path, false)
	if e != 0 {
		return e
	}
	n := m.inode(id)
	switch {
	case n.kind == KindDir:
		return EPERM
	case n.nlink == 0 && !n.linkable:
		return ENOENT
	}
	n = m.mutInode(id)
	n.nlink++
	n.linkable = false
	n.ctime = m.stamp(n)
	m.addName(pl.dir, pl.name, id)
	return 0
}

// readlink is readlink(2).
func (m *Machine) readlink(p *proc, path string, r *Result) {
	id, e := m.lookup(p, path, false)
	if e != 0 {
		r.Errno = e
		return
	}
	n := m.inode(id)
	if n.kind != KindSymlink {
		r.Errno = EINVAL
		return
	}
	r.N, r.Data = int64(len(n.data)), n.data
}
