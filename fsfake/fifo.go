package fsfake

import "syscall"

// FIFOs. One has what was written to it as long as anybody has it open, and it is empty after that. Only [CallTake]
// reads one: whoever reads takes away what others wait for, so that no such call is but a look.

// A FIFO is the Value of the answer to an open of one. Reads of the descriptor are [CallTake] then. Waits: nobody has
// its other end open, so that the open has begun, and has to be ended by [CallOpenFIFO].
type FIFO struct{ Waits bool }

// fifoAlone is a flag of a description of which an open has begun, as [FIFO] says. No flag of open(2) has this bit.
const fifoAlone = 1 << 26

// mostInFIFO is how many bytes a FIFO holds here. In the kernel it has 16 pages, each of which may be no more than half
// full, and where a write finds no room it waits, which is not modelled.
const mostInFIFO = 16 << 10

// fifoEnds reports whether anybody has a FIFO open for reading, and for writing.
func (m *Machine) fifoEnds(id InodeID) (read, written bool) {
	for _, d := range m.descs {
		if d.inode == id {
			read, written = read || d.readable(), written || d.writable()
		}
	}
	return read, written
}

// openFIFO is what open(2) says of a FIFO that may be opened so.
func (m *Machine) openFIFO(id InodeID, flags int) syscall.Errno {
	if read, _ := m.fifoEnds(id); !read && flags&O_ACCMODE == O_WRONLY && flags&O_NONBLOCK != 0 {
		return ENXIO
	}
	return 0
}

// joinFIFO is for a new description of a FIFO. Whose open waits for it has that behind him, even if it is closed soon.
func (m *Machine) joinFIFO(d *desc) FIFO {
	read, written := m.fifoEnds(d.inode)
	for _, o := range m.descs {
		met := o.readable() && d.writable() || o.writable() && d.readable()
		if met && o.inode == d.inode && o.flags&fifoAlone != 0 {
			m.mutDesc(o.id).flags &^= fifoAlone
		}
	}
	m.version++
	how := int(d.flags) & O_ACCMODE
	if waits := how == O_RDONLY && !written || how == O_WRONLY && !read; !waits || d.flags&O_NONBLOCK != 0 {
		return FIFO{}
	}
	d.flags |= fifoAlone
	return FIFO{Waits: true}
}

// endOpen is the rest of open(2) of a FIFO: it waits until somebody opens the other end.
func (m *Machine) endOpen(c *request) {
	switch {
	case c.d.flags&fifoAlone == 0:
	case !c.op.Wait:
		c.r.Errno = EAGAIN
	default:
		*c.r = m.block(c.p, c.t, c.op, c.d.id)
	}
}

// take is read(2) of a FIFO. It waits until there is something, or nobody who may write has it open any more.
func (m *Machine) take(c *request) {
	switch {
	case m.inode(c.d.inode).kind != KindFIFO:
		*c.r = unmodelled("reading a file as a FIFO")
	case !c.d.readable():
		c.r.Errno = EBADF
	case c.op.Len < 0:
		c.r.Errno = EINVAL
	case c.op.Len == 0 || m.mayTake(c.d):
		m.takeNow(c.d, c.op.Len, c.r)
	case c.d.flags&O_NONBLOCK != 0 || !c.op.Wait:
		c.r.Errno = EAGAIN
	default:
		*c.r = m.block(c.p, c.t, c.op, c.d.id)
	}
}

// mayTake reports whether reading a FIFO need not wait.
func (m *Machine) mayTake(d *desc) bool {
	_, written := m.fifoEnds(d.inode)
	return m.inode(d.inode).data != "" || !written
}

func (m *Machine) takeNow(d *desc, most int64, r *Result) {
	if most = min(most, int64(len(m.inode(d.inode).data))); most == 0 {
		return
	}
	n := m.mutInode(d.inode)
	r.N, r.Data, n.data = most, n.data[:most], n.data[most:]
	m.version++
}

// put is write(2) to a FIFO.
func (m *Machine) put(d *desc, data string, r *Result) {
	read, _ := m.fifoEnds(d.inode)
	switch {
	case !d.writable():
		r.Errno = EBADF
	case data == "":
	case !read:
		*r = unmodelled("writing to a FIFO that nobody can read from any more")
	case len(m.inode(d.inode).data)+len(data) > mostInFIFO:
		*r = unmodelled("writing to a FIFO that would hold more than %d bytes then", mostInFIFO)
	default:
		n := m.mutInode(d.inode)
		n.data += data
		m.modify(n)
		m.version++
		r.N = int64(len(data))
	}
}

// closedFIFO is that a description of a FIFO is gone: who waits to read may have waited for that, and the last one
// takes with it what is in there.
func (m *Machine) closedFIFO(id InodeID) {
	if read, written := m.fifoEnds(id); !read && !written && m.inode(id).data != "" {
		m.mutInode(id).data = ""
	}
	m.version++
}
