package fsfake

// An overlay file system, as containers have it: an image below that nobody writes to, and a layer
// above it in which changes go. What is of the image is copied up when it is changed for the first
// time. Measured on Linux 6.18 with its default options (no index, no redirect_dir), and read in
// fs/overlayfs; https://docs.kernel.org/filesystems/overlayfs.html.

// A layer says where an inode of an overlay lies.
type layer uint8

const (
	above    layer = iota // made after the image; of every other file system, all are
	ofImage               // of the image, and never changed
	copiedUp              // of the image, and changed since: a directory is in both layers then
)

// SealImage makes all that is there the image of an overlay; it does nothing on other file systems, and
// nothing the second time. What a process has open was made by it, and is not of the image. Names of one
// file become files of their own, which show one number and have locks each.
func (m *Machine) SealImage() {
	if m.profile != Overlay || m.sealed {
		return
	}
	s := m.mutSetup()
	s.sealed, s.imageInos = true, m.nextIno
	for _, n := range m.inodes {
		s.imageInos = max(s.imageInos, n.ino+1)
	}
	for _, e := range m.Tree() {
		n := m.inode(e.ID)
		if n.kind != KindDir && m.inUse(e.ID) {
			continue
		}
		if n.kind != KindDir && n.nlink > 1 {
			m.splitNames(e.ID)
		}
		n = m.mutInode(e.ID)
		n.layer = max(n.layer, ofImage)
		if n.kind != KindDir {
			n.imageLinks = max(n.imageLinks, n.nlink)
		}
	}
	m.mutInode(rootID).layer = copiedUp // there is one in each layer
}

// splitNames gives each name of a file but the first an inode of its own.
func (m *Machine) splitNames(id InodeID) {
	m.nextInode++
	links, twin, first := m.inode(id).nlink, m.nextInode, true
	for _, e := range m.Tree() {
		if e.ID != id {
			continue
		}
		n := m.mutInode(id)
		n.twin, n.imageLinks, n.nlink, n.layer = twin, links, 1, ofImage
		if first {
			first = false
			continue
		}
		c := *n
		ownSlice(m, &m.inodes, &m.ownInodes, 1)
		m.nextInode++
		c.id, c.own = m.nextInode, m.owner()
		m.inodes = append(m.inodes, &c)
		m.rename1(e.Path, c.id)
	}
}

// rename1 has a name stand for another inode, and nothing else change.
func (m *Machine) rename1(path string, id InodeID) {
	for i := range m.inodes {
		for j, e := range m.inodes[i].names {
			for _, p := range m.Paths(m.inodes[i].id) {
				if p == "/" {
					p = ""
				}
				if p+"/"+e.name == path {
					d := m.mutInode(m.inodes[i].id)
					d.names = append([]name(nil), d.names...)
					d.names[j].id = id
					return
				}
			}
		}
	}
}

// copyUp makes an inode of the image, which must be this machine's own, and the directories that it is
// in the layer's above: it is to be changed. Of several names of a file one alone is copied, which has a number
// of its own from then on.
func (m *Machine) copyUp(n *inode) {
	if n.layer != ofImage {
		return
	}
	n.layer, n.imageLinks = copiedUp, 0
	if n.lookedAt {
		m.clock++ // as in stamp
	}
	n.btime = m.changeTime() // of the copy
	n.ctime = n.btime
	if n.twin != 0 {
		n.twin = 0
		m.number(n)
	}
	if n.nlink == 0 {
		return
	}
	if n.kind == KindDir {
		m.changed(n.parent) // gets the copy, and keeps its mtime
		return
	}
	for _, d := range m.inodes {
		for i := range d.names {
			if d.names[i].id == n.id {
				m.changed(d.id)
				return
			}
		}
	}
}

// copyUpID is copyUp of an inode that may be shared between clones.
func (m *Machine) copyUpID(id InodeID) {
	if m.sealed && m.inode(id).layer == ofImage {
		m.copyUp(m.mutInode(id))
	}
}

// movable reports whether a rename may move an inode: a directory of the image stays where it is.
func (n *inode) movable() bool { return n.kind != KindDir || n.layer == above }

// shownAs is what stands for the number that stat(2) shows: the inode, or what it has in common with
// the other names of a file.
func (n *inode) shownAs() InodeID {
	if n.twin != 0 {
		return n.twin
	}
	return n.id
}

// overlayLinks is how many links an overlay shows of an inode.
func (n *inode) overlayLinks() uint32 {
	switch {
	case n.layer == ofImage && n.kind != KindDir:
		return n.imageLinks // of the file below, which no unlink removes
	case n.layer == copiedUp && n.kind == KindDir:
		return min(n.nlink, 1)
	}
	return n.nlink
}

// appendLayer appends to a key what an overlay has to say of an inode.
func (k *keyer) appendLayer(b []byte, n *inode) []byte {
	if !k.m.sealed {
		return b
	}
	b = append(b, byte(n.layer))
	if n.layer == ofImage && n.kind != KindDir {
		b = appendUint(b, uint64(n.imageLinks))
		b = appendUint(b, uint64(n.twin)) // twins are as many as there were at the start
	}
	return b
}
