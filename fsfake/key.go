package fsfake

import "encoding/binary"

// AppendKey appends the machine's canonical key to b. Two machines have equal keys
// exactly when no sequence of calls, moves of the clock, kills and new processes can
// tell them apart: neither the identities of inodes and descriptions nor the order in
// which they were made show, only what programs could find out.
//
// The key lists the machine in a fixed order (the directory tree by name, then the
// processes by pid and their descriptors by number), and gives each inode and
// description its number, followed by what it holds, where it first comes up.
func (m *Machine) AppendKey(b []byte) []byte {
	k := keyer{m: m, b: b}
	k.inodes, k.descs = k.inodeBuf[:], k.descBuf[:]
	if len(m.inodes) > len(k.inodes) {
		k.inodes = make([]uint32, len(m.inodes))
	}
	if len(m.descs) > len(k.descs) {
		k.descs = make([]uint32, len(m.descs))
	}
	k.machine()
	return k.b
}

type keyer struct {
	m *Machine
	b []byte
	// The number of each inode and description by its position in the machine; 0
	// before it has come up. Numbers count from 1.
	inodes, descs       []uint32
	numInodes, numDescs uint32
	inodeBuf            [48]uint32
	descBuf             [24]uint32
}

func (k *keyer) uint(v uint64) { k.b = appendUint(k.b, v) }

// appendUint is binary.AppendUvarint with the common case first.
func appendUint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

func appendString(b []byte, s string) []byte {
	return append(appendUint(b, uint64(len(s))), s...)
}

func (k *keyer) int(v int64)     { k.uint(uint64(v)<<1 ^ uint64(v>>63)) }
func (k *keyer) string(s string) { k.b = appendString(k.b, s) }
func (k *keyer) time(t int64)    { k.int(k.m.clock - t) }

func (k *keyer) bool(v bool) {
	if v {
		k.b = append(k.b, 1)
	} else {
		k.b = append(k.b, 0)
	}
}

func (k *keyer) machine() {
	m := k.m
	k.b = append(k.b, byte(m.policy))
	k.uint(uint64(m.umask))
	k.int(m.clock)
	k.time(m.boot)
	k.int(int64(m.maxPid))
	if m.policy == InodesUnique {
		k.uint(m.nextIno)
	}
	k.inode(rootID)
	k.uint(uint64(len(m.procs)))
	for _, p := range m.procs {
		k.proc(p)
	}
	k.uint(uint64(len(m.marks)))
	for i := range m.marks {
		k.mark(&m.marks[i])
	}
}

// inode refers to an inode, and at its first mention describes it.
func (k *keyer) inode(id InodeID) {
	at := k.m.inodeAt(id)
	if num := k.inodes[at]; num != 0 {
		k.uint(uint64(num))
		return
	}
	k.numInodes++
	k.inodes[at] = k.numInodes
	n := k.m.inodes[at]
	k.b = append(k.b, 0, byte(n.kind))
	k.bool(n.linkable)
	k.uint(uint64(n.mode))
	k.uint(uint64(n.uid))
	k.uint(uint64(n.gid))
	k.uint(uint64(n.nlink))
	k.uint(n.ino)
	k.time(n.atime)
	k.time(n.mtime)
	k.time(n.ctime)
	k.time(n.btime)
	if n.kind != KindDir {
		k.string(n.data)
	} else {
		k.uint(uint64(len(n.names)))
		for i := range n.names {
			k.string(n.names[i].name)
			k.inode(n.names[i].id)
		}
		k.inode(n.parent) // says more than the tree only of a removed directory
	}
	k.uint(uint64(len(n.records)))
	for i := range n.records {
		k.record(&n.records[i])
	}
}

func (k *keyer) record(r *record) {
	k.uint(uint64(r.typ))
	k.int(r.start)
	k.int(r.end)
	k.uint(uint64(r.owner.pid))
	if r.owner.pid == 0 {
		k.desc(r.owner.desc)
	}
}

// desc refers to a description, and at its first mention describes it.
func (k *keyer) desc(id descID) {
	at := k.m.descAt(id)
	if num := k.descs[at]; num != 0 {
		k.uint(uint64(num))
		return
	}
	k.numDescs++
	k.descs[at] = k.numDescs
	d := k.m.descs[at]
	k.b = append(k.b, 0, d.access, d.flock)
	k.bool(d.append)
	k.int(d.offset)
	k.inode(d.inode)
}

func (k *keyer) proc(p *proc) {
	k.uint(uint64(p.pid))
	k.uint(uint64(p.uid))
	k.uint(uint64(p.gid))
	k.int(p.start)
	k.inode(p.cwd)
	k.uint(uint64(len(p.fds)))
	for _, f := range p.fds {
		k.uint(uint64(f.fd))
		k.bool(f.cloexec)
		k.desc(f.desc)
	}
	k.uint(uint64(len(p.cells)))
	for i := range p.cells {
		k.string(p.cells[i].name)
		k.string(p.cells[i].key)
	}
	k.uint(uint64(len(p.waits)))
	for i := range p.waits {
		k.wait(&p.waits[i])
	}
	k.uint(uint64(len(p.seen)))
	for _, id := range p.seen {
		if k.m.findInode(id) == nil { // its number is used up, but nobody meets it again
			k.b = append(k.b, 0)
			continue
		}
		k.b = append(k.b, 1)
		k.inode(id)
	}
}

func (k *keyer) wait(w *wait) {
	k.uint(uint64(w.task))
	k.b = append(k.b, byte(w.op.Call))
	if w.op.Call == CallCellWait {
		k.string(w.op.Cell)
		k.b = appendValue(k.b, w.op.Value)
		return
	}
	k.int(int64(w.op.FD))
	k.uint(uint64(w.op.Flags))
	k.int(w.op.Off)
	k.int(w.op.Len)
	k.desc(w.desc)
}
