package fsfake

import (
	"io"
	"math"
	"slices"
	"strings"
)

// maxSize is the largest file that is modelled: contents are kept in full, holes too.
const maxSize = 16 << 20

// read is read(2).
func (m *Machine) read(d *desc, n int64, r *Result) {
	if m.inode(d.inode).kind == KindFIFO {
		*r = unmodelled("reading a FIFO as a file")
		return
	}
	m.pread(d, n, d.offset, r)
	if len(r.Data) > 0 {
		m.moveOffset(d, d.offset+int64(len(r.Data)))
	}
}

// moveOffset sets a description's offset. Whoever shares the description can see it.
func (m *Machine) moveOffset(d *desc, to int64) {
	if to == d.offset {
		return
	}
	d = m.mutDesc(d.id)
	d.offset = to
	if d.refs > 1 {
		m.version++
	}
}

// pread is pread(2). Reading changes no atime: the file system is mounted noatime.
func (m *Machine) pread(d *desc, n, off int64, r *Result) {
	i := m.inode(d.inode)
	switch {
	case i.kind == KindFIFO:
		r.Errno = ESPIPE
	case !d.readable():
		r.Errno = EBADF
	case i.kind == KindDir:
		r.Errno = EISDIR
	case n < 0:
		r.Errno = EINVAL
	default:
		data := i.data[min(off, int64(len(i.data))):]
		r.Data = data[:min(n, int64(len(data)))]
		r.N = int64(len(r.Data))
	}
}

// sharing is by whom a file was mapped.
type sharing uint8

const (
	unshared  sharing = iota
	byOne             // a description
	bySeveral         // or by one that is closed
)

// share notes that a shared mapping shows what was read, or does no more. Nobody sees that, but it stands in the key.
func (m *Machine) share(d *desc, flags int, r *Result) {
	switch is := m.inode(d.inode).shared; {
	case r.Errno != 0:
	case flags&Shares != 0 && is == unshared:
		m.mutInode(d.inode).shared, m.mutDesc(d.id).shows = byOne, true
	case flags&Shares != 0 && is == byOne && !d.shows:
		m.mutInode(d.inode).shared = bySeveral
	case flags&Unshares != 0 && is == byOne && d.shows:
		m.mutInode(d.inode).shared, m.mutDesc(d.id).shows = unshared, false
	}
}

// shownBy lists the files that are mapped only through descriptions which nobody has but these descriptors.
func (m *Machine) shownBy(fds []fdesc) (list []InodeID) {
	for _, f := range fds {
		if f.outside() {
			continue
		}
		if d := m.desc(f.desc); d.shows && d.refs == 1 && m.inode(d.inode).shared == byOne {
			list = append(list, d.inode)
		}
	}
	return list
}

// unshare forgets which files mappings have shown, all or some. It is for when no living process has one.
func (m *Machine) unshare(some ...InodeID) {
	for _, n := range m.inodes {
		if n.shared != unshared && (some == nil || slices.Contains(some, n.id)) {
			m.mutInode(n.id).shared = unshared
		}
	}
}

// SharedChange is what no machine models once a mapping has shown a file: see [Shares].
const SharedChange = "a change of a file that a program maps as shared memory"

// showsElsewhere refuses to change a file that a shared mapping shows, but through the description that was mapped.
func (m *Machine) showsElsewhere(id InodeID, by *desc, r *Result) bool {
	if is := m.inode(id).shared; is == bySeveral || is == byOne && (by == nil || !by.shows) {
		*r = unmodelled(SharedChange)
		return true
	}
	return false
}

// write is write(2). With O_APPEND it writes at the end, whatever the offset was.
func (m *Machine) write(p *proc, d *desc, data string, r *Result) {
	if m.inode(d.inode).kind == KindFIFO {
		m.put(d, data, r)
		return
	}
	off := d.offset
	if d.appends() {
		off = int64(len(m.inode(d.inode).data))
	}
	m.writeAt(p, d, data, off, r)
	if r.N > 0 {
		m.moveOffset(d, off+r.N)
	}
}

// pwrite is pwrite(2). On Linux it appends when the description has O_APPEND.
func (m *Machine) pwrite(p *proc, d *desc, data string, off int64, r *Result) {
	if m.inode(d.inode).kind == KindFIFO {
		r.Errno = ESPIPE
		return
	}
	if d.appends() {
		off = int64(len(m.inode(d.inode).data))
	}
	m.writeAt(p, d, data, off, r)
}

func (m *Machine) writeAt(p *proc, d *desc, data string, off int64, r *Result) {
	switch {
	case !d.writable():
		r.Errno = EBADF
		return
	case data == "", m.showsElsewhere(d.inode, d, r):
		return
	case off > maxSize-int64(len(data)):
		*r = unmodelled("a file of more than %d bytes", maxSize)
		return
	}
	n := m.mutInode(d.inode)
	end := off + int64(len(data))
	old, size := n.data, int64(len(n.data))
	switch {
	case off == 0 && end >= size:
		n.data = data
	case off > size:
		n.data += strings.Repeat("\x00", int(off-size)) + data
	case end >= size:
		n.data = n.data[:off] + data
	default:
		n.data = n.data[:off] + data + n.data[end:]
	}
	m.keepData(n, old)
	if m.powerLoss && len(n.data) > len(old) && n.unsynced != nil && !n.unsynced.extended {
		u := *n.unsynced
		u.extended, n.unsynced = true, &u
	}
	m.modified(p, n)
	r.N = int64(len(data))
	if m.powerLoss && d.flags&O_DSYNC != 0 {
		s := m.mutSeldom()
		s.syncing, s.syncData = n.id, d.flags&O_SYNC != O_SYNC
	}
}

// modified stamps a file whose contents changed, and takes away its set-user-id bits
// when somebody else than root did it.
func (m *Machine) modified(p *proc, n *inode) {
	m.modify(n)
	if p.uid != 0 {
		n.mode &^= n.privileges(p)
	}
	m.version++
}

// privileges returns the bits of a file's mode that a change by p takes away:
// set-user-id, and set-group-id unless that only asks for mandatory locking and p is of
// the group.
func (n *inode) privileges(p *proc) uint32 {
	bits := n.mode & 0o4000
	if n.mode&0o010 != 0 || p.uid != 0 && p.gid != n.gid {
		bits |= n.mode & 0o2000
	}
	return bits
}

// lseek is lseek(2).
func (m *Machine) lseek(d *desc, off int64, whence int, r *Result) {
	n := m.inode(d.inode)
	if n.kind == KindFIFO {
		r.Errno = ESPIPE
		return
	}
	if n.kind == KindDir {
		if off != 0 || whence != io.SeekStart {
			*r = unmodelled("lseek in a directory but to its start")
			return
		}
		m.rewound(d)
		m.moveOffset(d, 0)
		return
	}
	var base int64
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		base = d.offset
	case io.SeekEnd:
		base = int64(len(n.data))
	case SEEK_DATA, SEEK_HOLE:
		m.seekHole(d, off, whence, r)
		return
	default:
		r.Errno = EINVAL
		return
	}
	switch to := base + off; {
	case off > 0 && base > math.MaxInt64-off || to < 0:
		r.Errno = EINVAL
	case to > 1<<40:
		*r = unmodelled("a file offset beyond 1 TiB")
	default:
		m.moveOffset(d, to)
		r.N = to
	}
}

// seekHole is lseek(2) to the next data, or to the next hole, in a file that has none: then its end is one. Where
// the kernel has holes it is the file system's to say; there is none that is not a block of zeros.
func (m *Machine) seekHole(d *desc, off int64, whence int, r *Result) {
	data := m.inode(d.inode).data
	switch {
	case mayHaveHoles(data):
		*r = unmodelled("SEEK_DATA and SEEK_HOLE in a file with a block of zeros")
		return
	case off < 0 || off >= int64(len(data)):
		r.Errno = ENXIO
		return
	case whence == SEEK_HOLE:
		off = int64(len(data))
	}
	m.moveOffset(d, off)
	r.N = off
}

// mayHaveHoles reports whether a block of a file is all zeros.
func mayHaveHoles(data string) bool {
	for at := 0; at < len(data); at += block {
		if strings.Trim(data[at:min(at+block, len(data))], "\x00") == "" {
			return true
		}
	}
	return false
}

// setSize changes a file's size and stamps it, also when the size stays.
func (m *Machine) setSize(p *proc, id InodeID, size int64) {
	n := m.mutInode(id)
	old := n.data
	if have := int64(len(n.data)); size <= have {
		n.data = n.data[:size]
	} else {
		n.data += strings.Repeat("\x00", int(size-have))
	}
	m.keepData(n, old)
	m.modified(p, n)
}

// truncate is truncate(2). It stamps the file also when the size is as asked already, as
// on ext4; other file systems do not ([Profile.Differs]).
func (m *Machine) truncate(p *proc, path string, size int64, r *Result) {
	if size < 0 {
		r.Errno = EINVAL
		return
	}
	id, e := m.lookup(p, path, true)
	if e != 0 {
		r.Errno = e
		return
	}
	n := m.inode(id)
	switch {
	case n.kind == KindDir:
		r.Errno = EISDIR
	case n.kind != KindFile:
		r.Errno = EINVAL
	case !n.may(p, mayWrite):
		r.Errno = EACCES
	case size > maxSize:
		*r = unmodelled("a file of more than %d bytes", maxSize)
	case m.profile.keepsTimes(size) && int64(len(n.data)) == size, m.showsElsewhere(id, nil, r):
	default:
		m.setSize(p, id, size)
	}
}

// ftruncate is ftruncate(2).
func (m *Machine) ftruncate(p *proc, d *desc, size int64, flags int, r *Result) {
	switch {
	case flags&AtLeast != 0 && size == 0:
		r.Errno = EINVAL
	case flags&AtLeast != 0 && !d.writable():
		r.Errno = EBADF
	case flags&AtLeast != 0 && m.inode(d.inode).kind == KindFIFO:
		r.Errno = ESPIPE
	case flags&AtLeast != 0 && size <= int64(len(m.inode(d.inode).data)):
		m.modified(p, m.mutInode(d.inode))
	case m.inode(d.inode).kind != KindFile || !d.writable():
		r.Errno = EINVAL
	case size > maxSize:
		*r = unmodelled("a file of more than %d bytes", maxSize)
	case !m.showsElsewhere(d.inode, d, r):
		m.setSize(p, d.inode, size)
	}
}

// readdir reads a whole directory. Once read, a description is at the end, where
// nothing comes any more, until it is rewound.
func (m *Machine) readdir(p *proc, d *desc, look int, r *Result) {
	n := m.inode(d.inode)
	switch {
	case n.kind != KindDir:
		r.Errno = ENOTDIR
		return
	case n.nlink == 0:
		r.Errno = ENOENT
		return
	case d.offset != 0:
		return
	}
	names := make([]string, 0, len(n.names))
	for i := range n.names {
		if _, since := slices.BinarySearch(d.since, n.names[i].name); !since {
			names = append(names, n.names[i].name)
		}
	}
	names = m.border.listing(n.id, names)
	m.rewound(d)
	m.moveOffset(d, 1)
	r.N, r.Data = int64(len(names)), strings.Join(names, "\x00")
	if look&LookIno != 0 {
		r.Value = m.listed(p, n, names)
	}
}
