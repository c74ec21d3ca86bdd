package fsfake

import "syscall"

// Types of files, as mknod(2) takes them.
const (
	S_IFMT   = 0o170000
	S_IFIFO  = 0o010000
	S_IFCHR  = 0o020000
	S_IFDIR  = 0o040000
	S_IFBLK  = 0o060000
	S_IFREG  = 0o100000
	S_IFSOCK = 0o140000
)

// Flags of a description that is no open file, but a socket with a name. No flag of open(2) has these bits.
const (
	socketBound   = 1 << 24
	socketListens = 1 << 25
)

// mostWaiting is the longest queue of connections: net.core.somaxconn, as Linux sets it.
const mostWaiting = 4096

// isSocket: it is a socket that bind(2) gave a name, and no file.
func (d *desc) isSocket() bool { return d.flags&socketBound != 0 }

// mknod is mknod(2). Devices are not modelled.
func (m *Machine) mknod(c *request) {
	kind := KindFile
	switch c.op.Flags {
	case 0, S_IFREG:
	case S_IFIFO:
		kind = KindFIFO
	case S_IFSOCK:
		kind = KindSocket
	case S_IFDIR:
		c.r.Errno = EPERM
		return
	case S_IFCHR, S_IFBLK:
		*c.r = unmodelled("mknod of a device")
		return
	default:
		c.r.Errno = EINVAL
		return
	}
	_, e := m.makeNode(c.p, c.op.Path, kind, c.op.Mode&0o7777)
	c.fails(e)
}

// makeNode makes a file of any kind but a directory or a symlink, where no name is.
func (m *Machine) makeNode(p *proc, path string, kind Kind, mode uint32) (InodeID, syscall.Errno) {
	if e := start(path); e != 0 {
		return 0, e
	}
	pl, e := m.lookupNew(p, path, false)
	if e != 0 {
		return 0, e
	}
	n := m.createIn(p, m.inode(pl.dir), kind, mode&^m.umask)
	n.nlink = 1
	m.addName(pl.dir, pl.name, n.id)
	return n.id, 0
}

// bind is socket(2) of a stream and its bind(2) to a path: the descriptor keeps the file alive, not its name.
func (m *Machine) bind(c *request) {
	if c.op.Path == "" {
		*c.r = unmodelled("bind to an abstract address")
		return
	}
	if _, _, ok := c.p.freeFD(0); !ok {
		c.r.Errno = EMFILE
		return
	}
	id, e := m.makeNode(c.p, c.op.Path, KindSocket, c.op.Mode&0o777)
	switch e {
	case 0:
		of := desc{inode: id, flags: O_RDWR | O_LARGEFILE | socketBound, said: c.op.Data}
		c.r.N = int64(m.newDesc(c.p.pid, of, false))
	case EEXIST:
		c.r.Errno = EADDRINUSE
	default:
		c.r.Errno = e
	}
}

// listen is listen(2) of a socket with a name. The offset of its description is how many more connections may wait:
// nobody accepts one. The kernel takes one more than it is asked to, and a negative number for the largest.
func (m *Machine) listen(c *request) {
	switch {
	case !c.d.isSocket():
		c.r.Errno = ENOTSOCK
		return
	case c.d.flags&socketListens != 0:
		*c.r = unmodelled("listen on a socket that listens")
		return
	}
	d := m.mutDesc(c.d.id)
	d.flags |= socketListens
	d.offset = int64(min(uint32(c.op.Len), mostWaiting)) + 1
	m.version++
}

// connect is socket(2) of a stream and its connect(2) to a path. It succeeds while any process has the socket that
// bind(2) made there, and that listens. It answers with the name that getpeername(2) tells: the owner's word for it,
// which bind has as Data.
func (m *Machine) connect(c *request) {
	if c.op.Path == "" {
		*c.r = unmodelled("connect to an abstract address")
		return
	}
	id, e := m.lookup(c.p, c.op.Path, true)
	if e != 0 {
		c.r.Errno = e
		return
	}
	if n := m.inode(id); !n.may(c.p, mayWrite) {
		c.r.Errno = EACCES
		return
	}
	c.r.Errno = ECONNREFUSED
	for _, d := range m.descs {
		if d.inode != id || d.flags&socketListens == 0 {
			continue
		}
		if d.offset == 0 {
			*c.r = unmodelled("connecting to a socket whose queue of connections is full")
			return
		}
		c.r.Errno, c.r.Data = 0, d.said
		m.mutDesc(d.id).offset--
		m.version++
		return
	}
}
