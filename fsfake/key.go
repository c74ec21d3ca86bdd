package fsfake

import (
	"encoding/binary"
	"slices"
)

// AppendKey appends the machine's canonical key to b. Two machines made with the same
// Options have equal keys exactly when no sequence of calls, moves of the clock, kills
// and new processes can tell them apart: neither the identities of inodes and
// descriptions nor the order in which they were made show, only what programs could
// find out.
//
// The key lists the machine in a fixed order (the directory tree by name, then the
// processes by pid and their descriptors by number), and gives each inode and
// description its number, followed by what it holds, where it first comes up.
func (m *Machine) AppendKey(b []byte) []byte {
	var inodes [48]uint32
	var descs [24]uint32
	k := keyer{m: m, inodes: inodes[:], descs: descs[:]}
	if len(m.inodes) > len(inodes) {
		k.inodes = make([]uint32, len(m.inodes))
	}
	if len(m.descs) > len(descs) {
		k.descs = make([]uint32, len(m.descs))
	}
	return k.machine(b)
}

// A keyer numbers what the key mentions. The key itself is passed along beside it, for
// then both stay on the stack.
type keyer struct {
	m *Machine
	// The number of each inode and description by its position in the machine; 0
	// before it has come up. Numbers count from 1.
	inodes, descs       []uint32
	numInodes, numDescs uint32
}

// appendUint is binary.AppendUvarint with the common case first.
func appendUint(b []byte, v uint64) []byte {
	if v < 0x80 {
		return append(b, byte(v))
	}
	return binary.AppendUvarint(b, v)
}

func appendInt(b []byte, v int64) []byte { return appendUint(b, uint64(v)<<1^uint64(v>>63)) }

func appendLen(b []byte, n int) []byte { return appendUint(b, uint64(n)) }

func appendString(b []byte, s string) []byte {
	return append(appendLen(b, len(s)), s...)
}

// The first byte of an inode in a key is its kind and what else it has, that of a process what it has; what it does not
// have does not follow.
const (
	inodeLinkable = 4 << iota
	inodeOwned
	inodeTimes
	inodeNumber
	inodeRecords
	inodeUnsynced
)

const (
	procOwned = 1 << iota
	procStarted
	procMoved
	procCells
	procWaits
	procSeen
	procRedirected
	procPinned
)

// bit returns the bit if it is on.
func bit(on bool, b byte) byte {
	if on {
		return b
	}
	return 0
}

func (k *keyer) machine(b []byte) []byte {
	m := k.m
	if m.back != 0 {
		b = appendInt(append(b, 0x80, 0), m.back) // as no number begins
	}
	b = appendInt(b, m.clock-m.boot)
	b = appendLen(b, m.maxPid<<1|int(bit(m.queues, 1)))
	if m.policy == InodesUnique {
		b = appendUint(b, m.nextIno)
	}
	b = k.appendJournal(k.inode(b, rootID))
	if m.policy == InodesFirstSeen {
		b = k.seen(b, m.seen)
	}
	if m.childPids > 0 {
		b = k.appendShown(b)
	}
	b = appendLen(b, len(m.procs))
	for _, p := range m.procs {
		b = k.proc(b, p)
	}
	b = m.appendPaces(b)
	b = m.appendNaps(b)
	b = m.appendSignals(b)
	b = appendLen(b, len(m.marks))
	for i := range m.marks {
		b = k.mark(b, &m.marks[i])
	}
	for i := range m.exits { // after the marks nothing but these
		b = appendExit(b, &m.exits[i])
	}
	return b
}

// inode refers to an inode, and at its first mention describes it.
func (k *keyer) inode(b []byte, id InodeID) []byte {
	at := k.m.inodeAt(id)
	if num := k.inodes[at]; num != 0 {
		return appendUint(b, uint64(num))
	}
	k.numInodes++
	k.inodes[at] = k.numInodes
	n := k.m.inodes[at]
	b = n.appendAttrs(append(b, 0), k.m.boot)
	b = k.appendLayer(b, n)
	if n.kind == KindDir {
		b = k.names(b, n)
	} else {
		b = k.data(b, n.data)
	}
	for i := range n.records {
		b = k.record(b, &n.records[i])
	}
	if n.unsynced != nil {
		b = k.appendUnsynced(b, n.unsynced)
	}
	return b
}

// largeData is the size in bytes from which the data of a file is told by a number, where it is as at the start.
const largeData = 1 << 10

func (k *keyer) data(b []byte, data string) []byte {
	b = appendLen(b, len(data))
	if len(data) < largeData {
		return append(b, data...)
	}
	number := k.m.large.number(data)
	if b = appendLen(b, number); number != 0 {
		return b
	}
	return append(b, data...)
}

// appendAttrs appends what does not refer to other objects. Most files have one owner,
// root, and one time; so a byte says which of the rest follows.
func (n *inode) appendAttrs(b []byte, boot int64) []byte {
	differ := n.atime != n.mtime || n.mtime != n.ctime || n.ctime != n.btime
	tag := byte(n.kind&3) | bit(n.linkable, inodeLinkable) | bit(n.uid|n.gid != 0, inodeOwned) |
		bit(differ, inodeTimes) |
		bit(n.ino != 0, inodeNumber) | bit(len(n.records) != 0, inodeRecords) | bit(n.unsynced != nil, inodeUnsynced)
	b = append(b, tag)
	high := bit(n.lookedAt, 1) | byte(n.kind)&4>>1 | byte(n.shared)<<2
	b = appendUint(b, uint64(n.mode)|uint64(high)<<12) // above the 07777 of a mode
	b = appendUint(b, uint64(n.nlink))
	b = appendInt(b, n.btime-boot)
	if tag&inodeTimes != 0 {
		b = appendInt(b, n.atime-boot)
		b = appendInt(b, n.mtime-boot)
		b = appendInt(b, n.ctime-boot)
	}
	if tag&inodeOwned != 0 {
		b = appendUint(appendUint(b, uint64(n.uid)), uint64(n.gid))
	}
	if tag&inodeNumber != 0 {
		b = appendUint(b, n.ino)
	}
	if tag&inodeRecords != 0 {
		b = appendLen(b, len(n.records))
	}
	return b
}

func (k *keyer) names(b []byte, d *inode) []byte {
	b = appendLen(b, len(d.names))
	for i := range d.names {
		b = appendString(b, d.names[i].name)
		b = k.inode(b, d.names[i].id)
	}
	if d.nlink == 0 { // of a directory in the tree, the tree says the parent
		b = k.inode(b, d.parent)
	}
	return b
}

func (k *keyer) record(b []byte, r *record) []byte {
	b = append(b, byte(r.typ))
	b = appendUint(b, uint64(r.start))
	b = appendUint(b, uint64(r.end))
	b = appendLen(b, r.owner.pid)
	if r.owner.pid == 0 {
		b = k.desc(b, r.owner.desc)
	}
	return b
}

// desc refers to a description, and at its first mention describes it.
func (k *keyer) desc(b []byte, id descID) []byte {
	at := k.m.descAt(id)
	if num := k.descs[at]; num != 0 {
		return appendUint(b, uint64(num))
	}
	k.numDescs++
	k.descs[at] = k.numDescs
	d := k.m.descs[at]
	const usual = O_ACCMODE | O_APPEND | O_LARGEFILE
	rare := d.flags &^ usual
	// O_RDONLY to O_RDWR take 2 bits, and so do the locks.
	b = append(b, 0, byte(d.flags&O_ACCMODE)|bit(d.appends(), 4)|d.flock<<3|bit(rare != 0, 32)|bit(d.shows, 64))
	if rare != 0 {
		b = appendUint(b, uint64(rare))
	}
	if d.flock == LOCK_SH && k.m.queues {
		b = k.sharedBefore(b, d)
	}
	b = appendUint(b, uint64(d.offset))
	if d.isSocket() {
		b = appendString(b, d.said)
	}
	if k.m.profile.listsOpened() {
		b = appendLen(b, len(d.since))
		for _, s := range d.since {
			b = appendString(b, s)
		}
	}
	return k.inode(b, d.inode)
}

func (k *keyer) proc(b []byte, p *proc) []byte {
	fds := p.fds
	if hasStreams(fds) {
		fds = fds[len(standard):]
	}
	tag := bit(p.uid|p.gid != 0, procOwned) | bit(p.start != 0, procStarted) | bit(p.cwd != rootID, procMoved) |
		bit(len(p.cells) != 0, procCells) | bit(len(p.waits) != 0, procWaits) | bit(len(p.seen) != 0, procSeen) |
		bit(len(fds) == len(p.fds), procRedirected) | bit(p.pinned, procPinned)
	b = append(appendLen(b, p.pid), tag)
	if tag&procOwned != 0 {
		b = appendUint(appendUint(b, uint64(p.uid)), uint64(p.gid))
	}
	if tag&procStarted != 0 {
		b = appendInt(b, p.start)
	}
	if tag&procMoved != 0 {
		b = k.inode(b, p.cwd)
	}
	b = appendLen(b, len(fds))
	for i := range fds {
		f := &fds[i]
		b = appendUint(b, uint64(f.fd)<<3|uint64(bit(f.cloexec, 1)|bit(f.inherited, 2)|bit(f.outside(), 4)))
		if f.outside() {
			b = append(b, byte(-f.desc))
		} else {
			b = k.desc(b, f.desc)
		}
	}
	if tag&procCells != 0 {
		b = appendCells(b, p.cells)
	}
	if tag&procWaits != 0 {
		b = k.waits(b, p.pid, p.waits)
	}
	if tag&procSeen != 0 {
		b = k.seen(b, p.seen)
	}
	return b
}

// hasStreams reports whether a table of descriptors begins as [standard] does.
func hasStreams(fds []fdesc) bool {
	return len(fds) >= len(standard) && fds[0] == standard[0] && fds[1] == standard[1] && fds[2] == standard[2]
}

func appendCells(b []byte, cs []cell) []byte {
	b = appendLen(b, len(cs))
	for i := range cs {
		b = appendString(b, cs[i].name)
		b = appendString(b, cs[i].key)
	}
	return b
}

func (k *keyer) seen(b []byte, ids []InodeID) []byte {
	b = appendLen(b, len(ids))
	for _, id := range ids {
		if id == forgotten {
			b = append(b, 2)
		} else {
			b = k.maybeInode(b, id) // the number of one that is gone is used up
		}
	}
	return b
}

// maybeInode refers to an inode that may be gone, and that nobody can meet again then.
func (k *keyer) maybeInode(b []byte, id InodeID) []byte {
	if k.m.findInode(id) == nil {
		if k.m.sealed && slices.ContainsFunc(k.m.inodes, func(n *inode) bool { return n.twin == id }) {
			return appendUint(append(b, 3), uint64(id)) // of twins, which are as they were at the start
		}
		return append(b, 0)
	}
	return k.inode(append(b, 1), id)
}

func (k *keyer) waits(b []byte, pid int, ws []wait) []byte {
	b = appendLen(b, len(ws))
	for i := range ws {
		w := &ws[i]
		b = append(appendLen(b, w.task), byte(w.op.Call))
		if w.op.Call == CallCellWait {
			b = appendString(b, w.op.Cell)
			b = appendValue(b, w.op.Value)
			continue
		}
		b = appendLen(b, w.op.FD)
		b = appendLen(b, w.op.Flags)
		b = appendInt(appendInt(b, w.op.Off), w.op.Len)
		b = k.desc(b, w.desc)
		switch {
		case w.op.Call != CallFlock:
			b = k.waitsOn(b, pid, w)
		case k.m.queues:
			b = k.standsBehind(b, w)
		}
	}
	return b
}

// waitsOn appends whom a waiter for a record lock waits for, and how many waiters of the
// same owner began before it, for of several the search for deadlocks finds the last.
func (k *keyer) waitsOn(b []byte, pid int, w *wait) []byte {
	switch {
	case w.on == nobody:
		b = append(b, 0)
	case w.on.pid != 0:
		b = appendLen(append(b, 1), w.on.pid)
	default:
		b = k.desc(append(b, 2), w.on.desc)
	}
	owner, before := ownerOf(pid, &w.op, w.desc), 0
	for _, p := range k.m.procs {
		for i := range p.waits {
			o := &p.waits[i]
			if o.op.Call.isSetlk() && o.turn < w.turn && ownerOf(p.pid, &o.op, o.desc) == owner {
				before++
			}
		}
	}
	return appendLen(b, before)
}

// sharedBefore appends how many share the lock of d that got it before.
func (k *keyer) sharedBefore(b []byte, d *desc) []byte {
	before := 0
	for _, o := range k.m.descs {
		if o.inode == d.inode && o.flock != 0 && o.flockTurn < d.flockTurn {
			before++
		}
	}
	return appendLen(b, before)
}

// standsBehind appends what a waiter in flock stands behind, and how many stand there
// before it.
func (k *keyer) standsBehind(b []byte, w *wait) []byte {
	switch {
	case w.behind == predecessor{}:
		b = append(b, 0)
	case w.behind.lock != 0:
		b = k.desc(append(b, 1), w.behind.lock)
	default:
		b = appendLen(appendLen(append(b, 2), w.behind.waiter.Pid), w.behind.waiter.N)
	}
	inode, before := k.m.desc(w.desc).inode, 0
	for _, p := range k.m.procs {
		for i := range p.waits {
			o := &p.waits[i]
			if o.op.Call == CallFlock && o.behind == w.behind && o.turn < w.turn && k.m.desc(o.desc).inode == inode {
				before++
			}
		}
	}
	return appendLen(b, before)
}
