package fsfake

import "syscall"

const (
	firstFD = 3    // 0 to 2 are the standard streams
	maxFDs  = 1024 // the usual soft limit on open files
)

// A descID identifies an open file description, as an InodeID does an inode.
type descID int32

// A desc is an open file description: what open(2) makes, and dup and fork share.
type desc struct {
	own    *token
	id     descID
	inode  InodeID
	refs   int32 // descriptors, and calls in progress
	access uint8 // O_RDONLY, O_WRONLY or O_RDWR
	append bool
	flock  uint8 // LOCK_SH, LOCK_EX, or 0
	// flockTurn says when it got that lock: later than all with a smaller number.
	flockTurn uint64
	offset    int64 // for a directory, 1 once it has been read
}

func (d *desc) readable() bool { return d.access != O_WRONLY }
func (d *desc) writable() bool { return d.access != O_RDONLY }

// A fdesc is an entry of a descriptor table.
type fdesc struct {
	fd      int32
	desc    descID
	cloexec bool
	// inherited: from before a fork or an execve, and the process is not root's. Whoever
	// has it is not the one who opened it, as linkat sees it. Root's are never marked.
	inherited bool
}

// freeFD returns the lowest free descriptor and where it goes in the table, or EMFILE.
func (p *proc) freeFD() (fd, at int, e syscall.Errno) {
	for at < len(p.fds) && int(p.fds[at].fd) == firstFD+at {
		at++
	}
	if fd = firstFD + at; fd >= maxFDs {
		return 0, 0, EMFILE
	}
	return fd, at, 0
}

// fdAt returns the position of a descriptor, or -1.
func (p *proc) fdAt(fd int) int {
	for i := range p.fds {
		if int(p.fds[i].fd) == fd {
			return i
		}
	}
	return -1
}

// descOf returns the description behind a descriptor, or nil.
func (m *Machine) descOf(p *proc, fd int) *desc {
	if i := p.fdAt(fd); i >= 0 {
		return m.desc(p.fds[i].desc)
	}
	return nil
}

// newDesc opens a description of an inode, with a descriptor of process pid.
func (m *Machine) newDesc(pid int, d desc, cloexec bool) int {
	m.ownDescSlice(1)
	m.nextDesc++
	d.own, d.id, d.refs = m.owner(), m.nextDesc, 1
	m.descs = append(m.descs, &d)
	p := m.mutProc(pid)
	fd, at, _ := p.freeFD()
	p.fds = insert(p.fds, at, fdesc{fd: int32(fd), desc: d.id, cloexec: cloexec})
	return fd
}

// closeFD closes a descriptor that is open: the process loses every record lock that
// it has on the inode, whichever descriptor it took them through.
func (m *Machine) closeFD(pid, fd int) {
	p := m.mutProc(pid)
	i := p.fdAt(fd)
	id := p.fds[i].desc
	p.fds = remove(p.fds, i)
	m.dropRecords(m.desc(id).inode, recordOwner{pid: pid})
	m.unrefDesc(id)
}

// unrefDesc gives up one use of a description; the last one drops its locks.
func (m *Machine) unrefDesc(id descID) {
	i := m.descAt(id)
	if m.descs[i].refs > 1 {
		m.mutDesc(id).refs--
		return
	}
	d := m.descs[i]
	if d.flock != 0 {
		m.version++
		m.wake(predecessor{lock: id})
	}
	m.dropRecords(d.inode, recordOwner{desc: id})
	m.ownDescSlice(0)
	m.descs = append(m.descs[:i], m.descs[i+1:]...)
	m.reap(d.inode)
}

// inherited reports whether the descriptors that p has of a description are inherited.
func (p *proc) inherited(id descID) bool {
	for i := range p.fds {
		if p.fds[i].desc == id {
			return p.fds[i].inherited
		}
	}
	return false
}

// bequeath marks every descriptor as inherited.
func (p *proc) bequeath() {
	if p.uid == 0 {
		return
	}
	fds := make([]fdesc, len(p.fds))
	for i, f := range p.fds {
		f.inherited = true
		fds[i] = f
	}
	p.fds = fds
}

// dup is dup(2).
func (m *Machine) dup(p *proc, d *desc, r *Result) {
	fd, at, e := p.freeFD()
	if e != 0 {
		r.Errno = e
		return
	}
	m.mutDesc(d.id).refs++
	p = m.mutProc(p.pid)
	p.fds = insert(p.fds, at, fdesc{fd: int32(fd), desc: d.id, inherited: p.inherited(d.id)})
	r.N = int64(fd)
}
