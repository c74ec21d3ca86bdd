package fsfake

import "syscall"

// rename is renameat2(2), and rename(2) when op.Flags is 0. The order of the checks is
// the kernel's.
func (m *Machine) rename(p *proc, op *Op, r *Result) {
	const known = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT
	f := op.Flags
	if f&^known != 0 || f&RENAME_EXCHANGE != 0 && f != RENAME_EXCHANGE {
		r.Errno = EINVAL
		return
	}
	if f&RENAME_WHITEOUT != 0 {
		*r = unmodelled("RENAME_WHITEOUT")
		return
	}
	var from, to place
	e := m.renamePlaces(p, op, &from, &to)
	if e == 0 {
		e = m.checkTangle(&from, &to, f)
	}
	if e == 0 && from.id == to.id {
		return // two names of one file: both stay
	}
	if e == 0 {
		e = m.mayRename(p, &from, &to, f)
	}
	if e == 0 {
		e = m.canRename(&from, &to, f)
	}
	if e != 0 {
		r.Errno = e
		return
	}
	logged := len(m.journal)
	if f == RENAME_EXCHANGE {
		m.exchange(&from, &to)
		m.atOnce(logged, 0)
		return
	}
	over := to.id
	m.replace(&from, &to)
	if over == 0 || m.inode(from.id).kind != KindFile {
		from.id = 0
	}
	m.atOnce(logged, from.id)
}

// renamePlaces looks both names up.
func (m *Machine) renamePlaces(p *proc, op *Op, from, to *place) (e syscall.Errno) {
	if *from, e = m.lookupParent(p, op.Path); e != 0 {
		return e
	}
	if *to, e = m.lookupParent(p, op.Path2); e != 0 {
		return e
	}
	switch {
	case from.kind != lastName:
		return EBUSY
	case to.kind != lastName && op.Flags&RENAME_NOREPLACE != 0:
		return EEXIST
	case to.kind != lastName:
		return EBUSY
	}
	w := walker{m: m, p: p}
	if e = w.last(from); e == 0 && from.id == 0 {
		e = ENOENT
	}
	if e == 0 {
		e = w.last(to)
	}
	if e != 0 {
		return e
	}
	return m.checkSlashes(from, to, op.Flags)
}

// checkSlashes: a name with trailing slashes is a directory's.
func (m *Machine) checkSlashes(from, to *place, f int) syscall.Errno {
	isDir := m.inode(from.id).kind == KindDir
	switch {
	case f == RENAME_NOREPLACE && to.id != 0:
		return EEXIST
	case f == RENAME_EXCHANGE && to.id == 0:
		return ENOENT
	case f == RENAME_EXCHANGE && to.slash && m.inode(to.id).kind != KindDir:
		return ENOTDIR
	case !isDir && from.slash:
		return ENOTDIR
	case !isDir && to.slash && f != RENAME_EXCHANGE:
		return ENOTDIR
	}
	return 0
}

// checkTangle: no directory goes into itself or below, nor over one of its ancestors.
func (m *Machine) checkTangle(from, to *place, f int) syscall.Errno {
	if from.dir == to.dir {
		return 0
	}
	if m.within(to.dir, from.id) {
		return EINVAL
	}
	if to.id != 0 && m.within(from.dir, to.id) {
		if f == RENAME_EXCHANGE {
			return EINVAL
		}
		return ENOTEMPTY
	}
	return 0
}

// within reports whether dir is top or below it.
func (m *Machine) within(dir, top InodeID) bool {
	for dir != top && dir != rootID {
		dir = m.inode(dir).parent
	}
	return dir == top
}

func (m *Machine) mayRename(p *proc, from, to *place, f int) syscall.Errno {
	src, fromDir, toDir := m.inode(from.id), m.inode(from.dir), m.inode(to.dir)
	isDir := src.kind == KindDir
	if e := fromDir.mayDelete(p, src, isDir); e != 0 {
		return e
	}
	if to.id == 0 {
		if e := toDir.mayCreate(p); e != 0 {
			return e
		}
		return mayMove(p, src, from.dir != to.dir)
	}
	dst := m.inode(to.id)
	if f == RENAME_EXCHANGE {
		isDir = dst.kind == KindDir
	}
	if e := toDir.mayDelete(p, dst, isDir); e != 0 {
		return e
	}
	if e := mayMove(p, src, from.dir != to.dir); e != 0 {
		return e
	}
	if f == RENAME_EXCHANGE {
		return mayMove(p, dst, from.dir != to.dir)
	}
	return 0
}

// canRename is what the file system says when everything else allows for a rename.
func (m *Machine) canRename(from, to *place, f int) syscall.Errno {
	switch {
	case !m.inode(from.id).movable(), f == RENAME_EXCHANGE && !m.inode(to.id).movable():
		return EXDEV
	case to.id != 0 && f != RENAME_EXCHANGE && len(m.inode(to.id).names) != 0:
		return m.profile.full()
	}
	return 0
}

// mayMove: to change a directory's ".." one must be allowed to write to it.
func mayMove(p *proc, n *inode, away bool) syscall.Errno {
	if away && n.kind == KindDir && !n.may(p, mayWrite) {
		return EACCES
	}
	return 0
}

// replace moves a name over another, whose inode loses it.
func (m *Machine) replace(from, to *place) {
	var old *inode
	if to.id != 0 {
		old = m.inode(to.id)
	}
	if from.dir == to.dir {
		m.moveName(to.dir, from.name, to.name)
	} else {
		m.dropName(from.dir, from.name)
		m.addName(to.dir, to.name, from.id)
	}
	m.changed(from.id)
	m.moveParent(from.id, from.dir, to.dir)
	if old == nil {
		return
	}
	if old.kind == KindDir {
		m.forget(to.dir, to.id)
	} else {
		m.dropLink(to.id)
	}
}

func (m *Machine) exchange(from, to *place) {
	names, unsynced := m.inode(from.dir).names, m.inode(from.dir).unsynced
	m.addName(from.dir, from.name, to.id)
	m.addName(to.dir, to.name, from.id)
	if from.dir == to.dir {
		m.oneChange(to.dir, names, unsynced)
	}
	m.exchanged(from, to)
	m.moveParent(from.id, from.dir, to.dir)
	m.moveParent(to.id, to.dir, from.dir)
}

// changed stamps a change of an inode, but not of its contents.
func (m *Machine) changed(id InodeID) {
	n := m.mutInode(id)
	n.ctime = m.stamp(n)
}

// moveParent sets "..", if id is a directory that goes elsewhere.
func (m *Machine) moveParent(id, from, to InodeID) {
	if from == to || m.inode(id).kind != KindDir {
		return
	}
	m.mutInode(id).parent = to
	m.mutInode(from).nlink--
	m.mutInode(to).nlink++
}
