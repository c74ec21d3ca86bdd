package fsfake

import "syscall"

// maxFDs is the usual soft limit on open files.
const maxFDs = 1024

// A descID identifies an open file description, as an InodeID does an inode. The standard
// streams, which come from outside of the machine, have those up to 0.
type descID int32

// stream returns the description of a standard stream, 0 to 2.
func stream(n int) descID { return descID(-n) }

// standard are the descriptors that a process starts with.
var standard = []fdesc{{fd: 0, desc: stream(0)}, {fd: 1, desc: stream(1)}, {fd: 2, desc: stream(2)}}

// A desc is an open file description: what open(2) makes, and dup and fork share.
type desc struct {
	own   *token
	id    descID
	inode InodeID
	refs  int32 // descriptors, and calls in progress
	flags int32 // as F_GETFL tells them
	flock uint8 // LOCK_SH, LOCK_EX, or 0
	shows bool  // it was mapped, and before any other of the file
	// flockTurn says when it got that lock: later than all with a smaller number.
	flockTurn uint64
	offset    int64 // for a directory, 1 once it has been read
	// since are the names made in a directory since it was opened, sorted, where a listing does not
	// show them. Never changed in place.
	since []string
	said  string // of a socket: the name that bind(2) was asked for, as the owner wrote it
}

func (d *desc) readable() bool { return d.flags&O_ACCMODE != O_WRONLY }
func (d *desc) writable() bool { return d.flags&O_ACCMODE != O_RDONLY }
func (d *desc) appends() bool  { return d.flags&O_APPEND != 0 }

// isPath: opened with O_PATH, it only says where something is.
func (d *desc) isPath() bool { return d.flags&O_PATH != 0 }

// A fdesc is an entry of a descriptor table.
type fdesc struct {
	fd      int32
	desc    descID
	cloexec bool
	// inherited: from before a fork or an execve, and the process is not root's. Whoever
	// has it is not the one who opened it, as linkat sees it. Root's are never marked.
	inherited bool
}

// outside: a standard stream, or a duplicate of one.
func (f *fdesc) outside() bool { return f.desc <= 0 }

// freeFD returns the lowest free descriptor that is not below min, or EMFILE, and where it
// goes in the table.
func (p *proc) freeFD(min int) (fd, at int, ok bool) {
	for at < len(p.fds) && int(p.fds[at].fd) < min {
		at++
	}
	for fd = min; at < len(p.fds) && int(p.fds[at].fd) == fd; at++ {
		fd++
	}
	return fd, at, fd < maxFDs
}

// fdAt returns the position of a descriptor, or -1.
func (p *proc) fdAt(fd int) int {
	if uint(fd) < uint(len(p.fds)) && int(p.fds[fd].fd) == fd { // no lower one is free
		return fd
	}
	for i := range p.fds {
		if int(p.fds[i].fd) == fd {
			return i
		}
	}
	return -1
}

// descOf returns the description behind a descriptor, or nil. It is nil of a standard
// stream, too.
func (m *Machine) descOf(p *proc, fd int) *desc {
	if i := p.fdAt(fd); i >= 0 && !p.fds[i].outside() {
		return m.desc(p.fds[i].desc)
	}
	return nil
}

// newDesc opens a description of an inode, with a descriptor of process pid.
func (m *Machine) newDesc(pid int, d desc, cloexec bool) int {
	ownSlice(m, &m.descs, &m.ownDescs, 1)
	m.nextDesc++
	d.own, d.id, d.refs = m.owner(), m.nextDesc, 1
	m.descs = append(m.descs, &d)
	p := m.mutProc(pid)
	fd, at, _ := p.freeFD(0)
	p.fds = insert(p.fds, at, fdesc{fd: int32(fd), desc: d.id, cloexec: cloexec})
	return fd
}

// closeFD closes a descriptor that is open: the process loses every record lock that
// it has on the inode, whichever descriptor it took them through.
func (m *Machine) closeFD(pid, fd int) {
	p := m.mutProc(pid)
	i := p.fdAt(fd)
	f := p.fds[i]
	p.fds = remove(p.fds, i)
	m.letGo(pid, f)
}

// letGo gives up what a descriptor that is no longer in the table was open on.
func (m *Machine) letGo(pid int, f fdesc) {
	if f.outside() {
		return
	}
	if d := m.desc(f.desc); !d.isPath() { // closing what cannot be locked unlocks nothing
		m.dropRecords(d.inode, recordOwner{pid: pid})
	}
	m.unrefDesc(f.desc)
}

// unrefDesc gives up one use of a description; the last one drops its locks.
func (m *Machine) unrefDesc(id descID) {
	i := m.descAt(id)
	if m.descs[i].refs > 1 {
		m.mutDesc(id).refs--
		return
	}
	d := m.descs[i]
	if d.isSocket() {
		m.version++
	}
	if d.flock != 0 {
		m.version++
		m.wake(predecessor{lock: id})
	}
	m.dropRecords(d.inode, recordOwner{desc: id})
	ownSlice(m, &m.descs, &m.ownDescs, 0)
	m.descs = append(m.descs[:i], m.descs[i+1:]...)
	if m.inode(d.inode).kind == KindFIFO {
		m.closedFIFO(d.inode)
	}
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
		f.inherited = !f.outside()
		fds[i] = f
	}
	p.fds = fds
}

// copyOf returns a new entry for what a descriptor is open on. Somebody must put it into
// the table.
func (m *Machine) copyOf(p *proc, f fdesc, fd int, cloexec bool) fdesc {
	if !f.outside() {
		m.mutDesc(f.desc).refs++
	}
	return fdesc{fd: int32(fd), desc: f.desc, cloexec: cloexec, inherited: p.inherited(f.desc)}
}

// dup is dup(2), and with FD2, the lowest descriptor that will do, F_DUPFD of fcntl(2).
func (m *Machine) dup(c *request) {
	if extra := c.op.Flags &^ O_CLOEXEC; extra != 0 {
		*c.r = unmodelled("dup with flags %#x", extra)
		return
	}
	if c.op.FD2 < 0 || c.op.FD2 >= maxFDs {
		c.r.Errno = EINVAL
		return
	}
	fd, at, ok := c.p.freeFD(c.op.FD2)
	if !ok {
		c.r.Errno = EMFILE
		return
	}
	p := m.mutProc(c.p.pid)
	p.fds = insert(p.fds, at, m.copyOf(p, c.p.fds[c.at], fd, c.op.Flags&O_CLOEXEC != 0))
	c.r.N = int64(fd)
}

// dup2 is dup2(2): FD2 becomes a duplicate of FD, whatever it was before.
func (m *Machine) dup2(c *request) {
	c.r.N = int64(c.op.FD2)
	if c.op.FD2 != c.op.FD {
		m.replaceFD(c)
	}
}

// dup3 is dup3(2).
func (m *Machine) dup3(c *request) {
	c.r.N = int64(c.op.FD2)
	m.replaceFD(c)
}

// replaceFD makes FD2 a duplicate of FD. What it was before is closed in the same step, and
// errors of that are lost.
func (m *Machine) replaceFD(c *request) {
	fd := c.op.FD2
	p := m.mutProc(c.p.pid)
	f := m.copyOf(p, p.fds[c.at], fd, c.op.Flags&O_CLOEXEC != 0)
	i := p.fdAt(fd)
	if i < 0 {
		_, at, _ := p.freeFD(fd)
		p.fds = insert(p.fds, at, f)
		return
	}
	old := p.fds[i]
	p.fds = append([]fdesc(nil), p.fds...)
	p.fds[i] = f
	m.letGo(p.pid, old)
	m.lookInVain()
}

// getfd is F_GETFD of fcntl(2).
func (m *Machine) getfd(c *request) {
	if c.p.fds[c.at].cloexec {
		c.r.N = FD_CLOEXEC
	}
}

// setfd is F_SETFD of fcntl(2). The kernel looks at one bit.
func (m *Machine) setfd(c *request) {
	on := c.op.Flags&FD_CLOEXEC != 0
	if c.p.fds[c.at].cloexec == on {
		return
	}
	p := m.mutProc(c.p.pid)
	p.fds = append([]fdesc(nil), p.fds...)
	p.fds[c.at].cloexec = on
}

// setfl is F_SETFL of fcntl(2). What open(2) alone decides stays as it is.
func (m *Machine) setfl(c *request) {
	const mask = O_APPEND | O_NONBLOCK | O_NOATIME
	if c.op.Flags&O_DIRECT != 0 {
		*c.r = unmodelled("O_DIRECT")
		return
	}
	flags := int32(c.op.Flags&mask) | c.d.flags&^mask
	if flags&^c.d.flags&O_NOATIME != 0 && !m.inode(c.d.inode).ownedBy(c.p) {
		c.r.Errno = EPERM
		return
	}
	if flags == c.d.flags {
		return
	}
	d := m.mutDesc(c.d.id)
	d.flags = flags
	if d.refs > 1 {
		m.version++
	}
}

// checkDup2 answers what dup2(2) answers before it looks at the descriptor, checkDup3 the
// same for dup3(2).
func checkDup2(o *Op) (syscall.Errno, bool) { return EBADF, o.FD2 < 0 || o.FD2 >= maxFDs }

func checkDup3(o *Op) (syscall.Errno, bool) {
	if o.Flags&^O_CLOEXEC != 0 || o.FD == o.FD2 {
		return EINVAL, true
	}
	return checkDup2(o)
}
