package fsfake

// A Rebuilder makes machines from their keys. A search that has millions of machines keeps their
// keys alone, and rebuilds the one on which it is to try a call.
//
// What is rebuilt has the key that it was made from, and so answers every call as the machine did
// that had it first: that is what equal keys mean ([Machine.AppendKey]). Its inodes and
// descriptions have other identities, and it counts changes ([Machine.Version]) and turns from
// those of the machine that the Rebuilder was made for.
//
// A Rebuilder is not for concurrent use.
type Rebuilder struct {
	of       *Machine
	m        Machine
	key      string
	at       int  // how far it is read
	bad      bool // it is none
	again    []byte
	gone     InodeID // the identity given last to an inode that is gone
	newcomer token   // what is rebuilt is nobody's own

	// The parts of m, in memory that the next machine has again.
	inodeAt []*inode
	descAt  []*desc
	procAt  []*proc
	inodes  stock[inode]
	descs   stock[desc]
	procs   stock[proc]
	entries stock[name]
	tables  stock[fdesc]
	numbers stock[InodeID]
}

// A stock is memory that is used again.
type stock[T any] struct {
	all  []T
	used int
}

// row returns n of them, which stay where they are.
func (s *stock[T]) row(n int) []T {
	if s.used+n > len(s.all) {
		s.all, s.used = make([]T, max(8, n, 2*len(s.all))), 0
	}
	from := s.used
	s.used += n
	return s.all[from:s.used:s.used]
}

// one returns one of them.
func (s *stock[T]) one() *T { return &s.row(1)[0] }

// NewRebuilder returns a rebuilder of machines that calls have made of m, which stays as it is.
func NewRebuilder(m *Machine) *Rebuilder { return &Rebuilder{of: m.Clone()} }

// Rebuilds reports whether a machine can be made from its key: whether it has nothing that its key does not
// tell. It is false of machines that lose power, of overlays, of cells with values of a user's own type, of
// processes with a clock or pids of their own, and of machines that are of another kind than the first.
func (r *Rebuilder) Rebuilds(m *Machine) bool {
	if m.setup != r.of.setup || m.powerLoss || m.sealed || m.profile.listsOpened() || !m.seldom.same(r.of.seldom, m.lasts) {
		return false
	}
	for _, p := range m.procs {
		if p.skew != 0 || p.inside != 0 {
			return false
		}
		for i := range p.cells {
			if p.cells[i].key[0] == printed {
				return false
			}
		}
		for i := range p.waits {
			if w := &p.waits[i]; w.op.Call == CallCellWait && appendValue(nil, w.op.Value)[0] == printed {
				return false
			}
		}
	}
	return true
}

// same reports whether two say the same; base says something where sleeps last only.
func (s *seldom) same(o *seldom, lasts bool) bool {
	return s == o || len(s.exits)+len(o.exits)+len(s.paces)+len(o.paces)+len(s.naps)+len(o.naps)+
		len(s.signals)+len(o.signals) == 0 &&
		s.stallLeft == o.stallLeft && s.back == o.back && (s.base == o.base || !lasts)
}

// Machine returns the machine that has a key. It and its clones are valid until the next call. ok is
// false, and the machine is not to be used, where the key is of none that can be rebuilt.
func (r *Rebuilder) Machine(key []byte) (m *Machine, ok bool) {
	if m, ok = r.Again(key); ok {
		r.again = m.AppendKey(r.again[:0])
		ok = string(r.again) == string(key)
	}
	return m, ok
}

// Again is Machine for a key of which a machine was made before: it is made in the same way, and whether it has that key
// was seen then.
func (r *Rebuilder) Again(key []byte) (m *Machine, ok bool) {
	r.key, r.at, r.bad, r.gone = string(key), 0, false, 0
	r.inodes.used, r.descs.used, r.procs.used, r.entries.used, r.tables.used, r.numbers.used = 0, 0, 0, 0, 0, 0
	r.inodeAt, r.descAt, r.procAt = r.inodeAt[:0], r.descAt[:0], r.procAt[:0]
	m = &r.m
	r.of.CloneTo(m)
	m.marks, m.seen, m.shown, m.nextDesc, m.nextInode = nil, nil, nil, 0, 0
	r.machine()
	m.inodes, m.descs, m.procs = r.inodeAt, r.descAt, r.procAt
	m.own, m.ownInodes, m.ownDescs, m.ownProcs = nil, false, false, false
	return m, !r.bad && r.at == len(r.key)
}

// Keep has what was rebuilt last, and its clones, stay valid for good.
func (r *Rebuilder) Keep() {
	*r = Rebuilder{of: r.of, m: r.m, again: r.again}
}

// machine is the mirror of [keyer.machine], and so are those below of their namesakes.
func (r *Rebuilder) machine() {
	m := &r.m
	if m.back != 0 {
		r.text(2)
		r.int()
	}
	m.clock = r.int() + m.boot
	m.maxPid = r.len() >> 1
	if m.policy == InodesUnique {
		m.nextIno = r.uint()
	}
	r.inode(0)
	if m.policy == InodesFirstSeen {
		m.seen = r.seen()
	}
	if m.childPids > 0 {
		m.shown = r.shown()
	}
	for range r.count() {
		r.proc()
	}
	r.text(len(m.appendPaces(nil)))
	r.text(len(m.appendNaps(nil)))
	if n := r.count(); n > 0 {
		m.marks = make([]Mark, n)
		for i := range m.marks {
			m.marks[i] = Mark{Task: Task{r.len(), r.len()}, Lock: r.string(), Path: r.string(), Times: r.len(), Inode: r.maybeInode()}
		}
	}
}

func (r *Rebuilder) inode(parent InodeID) InodeID {
	if num := r.uint(); num != 0 {
		if num > uint64(len(r.inodeAt)) {
			r.bad = true
			return rootID
		}
		return r.inodeAt[num-1].id
	}
	n := r.inodes.one()
	r.m.nextInode++
	*n = inode{own: &r.newcomer, id: r.m.nextInode}
	r.inodeAt = append(r.inodeAt, n)
	records, old := r.attrs(n)
	if n.kind == KindDir {
		r.names(n, parent)
	} else {
		n.data = r.data()
	}
	if records > 0 {
		n.records = make([]record, records)
		for i := range n.records {
			n.records[i] = r.record()
		}
	}
	r.bad = r.bad || old
	return n.id
}

func (r *Rebuilder) data() string {
	size := r.len()
	if size < largeData {
		return r.text(size)
	}
	number := r.len()
	if number == 0 {
		return r.text(size)
	}
	if r.m.large == nil || number > len(r.m.large.data) {
		r.bad = true
		return ""
	}
	return r.m.large.data[number-1]
}

// attrs is the mirror of [inode.appendAttrs]. It returns how many records there are, and whether what may be
// on the disk comes after them.
func (r *Rebuilder) attrs(n *inode) (records int, old bool) {
	tag := r.byte()
	mode := r.uint()
	n.kind, n.linkable = Kind(tag&3|byte(mode>>13&1)<<2), tag&inodeLinkable != 0
	n.mode, n.lookedAt, n.shared = uint32(mode&(1<<12-1)), mode>>12&1 != 0, sharing(mode>>14)
	n.nlink = uint32(r.uint())
	n.btime = r.int() + r.m.boot
	n.atime, n.mtime, n.ctime = n.btime, n.btime, n.btime
	if tag&inodeTimes != 0 {
		n.atime, n.mtime, n.ctime = r.int()+r.m.boot, r.int()+r.m.boot, r.int()+r.m.boot
	}
	if tag&inodeOwned != 0 {
		n.uid, n.gid = uint32(r.uint()), uint32(r.uint())
	}
	if tag&inodeNumber != 0 {
		n.ino = r.uint()
	}
	if tag&inodeRecords != 0 {
		records = r.count()
	}
	return records, tag&inodeUnsynced != 0
}

func (r *Rebuilder) names(d *inode, parent InodeID) {
	if n := r.count(); n > 0 {
		d.names = r.entries.row(n)
	}
	for i := range d.names {
		d.names[i].name = r.string()
		d.names[i].id = r.inode(d.id)
	}
	switch {
	case d.nlink == 0:
		d.parent = r.inode(0)
	case d.id == rootID:
		d.parent = rootID
	default:
		d.parent = parent
	}
}

func (r *Rebuilder) record() (a record) {
	a.typ = int(r.byte())
	a.start, a.end = int64(r.uint()), int64(r.uint())
	if a.owner.pid = r.len(); a.owner.pid == 0 {
		a.owner.desc = r.desc().id
	}
	return a
}

// desc returns the description that the key refers to.
func (r *Rebuilder) desc() *desc {
	if num := r.uint(); num != 0 {
		if num > uint64(len(r.descAt)) {
			r.bad = true
			return &desc{}
		}
		return r.descAt[num-1]
	}
	d := r.descs.one()
	r.m.nextDesc++
	*d = desc{own: &r.newcomer, id: r.m.nextDesc}
	r.descAt = append(r.descAt, d)
	tag := r.byte()
	d.flags, d.flock, d.shows = int32(tag)&O_ACCMODE, tag>>3&3, tag&64 != 0
	if tag&4 != 0 {
		d.flags |= O_APPEND
	}
	if tag&32 != 0 {
		d.flags |= int32(r.uint())
	}
	d.flags = statusFlags(int(d.flags))
	if d.flock == LOCK_SH && r.m.queues {
		d.flockTurn = r.after()
	}
	d.offset = int64(r.uint())
	if d.isSocket() {
		d.said = r.string()
	}
	d.inode = r.inode(0)
	return d
}

func (r *Rebuilder) proc() {
	p := r.procs.one()
	*p = proc{own: &r.newcomer, pid: r.len(), cwd: rootID}
	r.procAt = append(r.procAt, p)
	tag := r.byte()
	p.pinned = tag&procPinned != 0
	if tag&procOwned != 0 {
		p.uid, p.gid = uint32(r.uint()), uint32(r.uint())
	}
	if tag&procStarted != 0 {
		p.start = r.int()
	}
	if tag&procMoved != 0 {
		p.cwd = r.inode(0)
	}
	p.fds = r.fds(tag&procRedirected == 0)
	if tag&procCells != 0 {
		p.cells = make([]cell, r.count())
		for i := range p.cells {
			p.cells[i] = cell{name: r.string(), key: r.string()}
			r.at -= len(p.cells[i].key)
			p.cells[i].value = r.value()
		}
	}
	if tag&procWaits != 0 {
		p.waits = make([]wait, r.count())
		for i := range p.waits {
			p.waits[i] = r.wait()
		}
	}
	if tag&procSeen != 0 {
		p.seen = r.seen()
	}
}

func (r *Rebuilder) fds(streams bool) []fdesc {
	n := r.count()
	if n == 0 && streams {
		return standard
	}
	fds := r.tables.row(len(standard) + n)[:0]
	if streams {
		fds = append(fds, standard...)
	}
	for range n {
		v := r.uint()
		f := fdesc{fd: int32(v >> 3), cloexec: v&1 != 0, inherited: v&2 != 0}
		if v&4 != 0 {
			f.desc = stream(int(r.byte()))
		} else {
			d := r.desc()
			d.refs++
			f.desc = d.id
		}
		fds = append(fds, f)
	}
	return fds
}

func (r *Rebuilder) wait() (w wait) {
	w.task = r.len()
	w.op.Call = Call(r.byte())
	if w.op.Call == CallCellWait {
		w.op.Cell, w.op.Value = r.string(), r.value()
		return w
	}
	w.op.FD, w.op.Flags = r.len(), r.len()
	w.op.Off, w.op.Len = r.int(), r.int()
	d := r.desc()
	d.refs++
	w.desc = d.id
	switch {
	case w.op.Call != CallFlock:
		w.op.Wait = true
		r.waitsOn(&w)
	case r.m.queues:
		r.standsBehind(&w)
	}
	return w
}

func (r *Rebuilder) waitsOn(w *wait) {
	switch r.byte() {
	case 0:
	case 1:
		w.on.pid = r.len()
	default:
		w.on.desc = r.desc().id
	}
	w.turn = r.after()
}

func (r *Rebuilder) standsBehind(w *wait) {
	switch r.byte() {
	case 0:
	case 1:
		w.behind.lock = r.desc().id
	default:
		w.behind.waiter = Task{r.len(), r.len()}
	}
	w.turn = r.after()
}

// after returns a turn after so many others.
func (r *Rebuilder) after() uint64 {
	turn := r.uint() + 1
	r.m.turn = max(r.m.turn, turn)
	return turn
}

// value returns the value of a cell, as [appendValue] has written it.
func (r *Rebuilder) value() any {
	switch r.byte() {
	case 0:
		return nil
	case 1:
		return r.byte() == 1
	case 2:
		return int(r.int())
	case 3:
		return r.string()
	}
	r.bad = true
	return nil
}

func (r *Rebuilder) seen() []InodeID {
	ids := r.numbers.row(r.count())
	for i := range ids {
		if r.at < len(r.key) && r.key[r.at] == 2 {
			r.at++
			ids[i] = forgotten
		} else {
			ids[i] = r.maybeInode()
		}
	}
	return ids
}

// maybeInode returns for an inode that is gone an identity that nothing else has.
func (r *Rebuilder) maybeInode() InodeID {
	switch r.byte() {
	case 0:
		r.gone--
		return r.gone
	case 1:
		return r.inode(0)
	}
	r.bad = true
	return forgotten
}

func (r *Rebuilder) byte() byte {
	if r.at >= len(r.key) {
		r.bad = true
		return 0
	}
	r.at++
	return r.key[r.at-1]
}

func (r *Rebuilder) uint() uint64 {
	if at := r.at; at < len(r.key) && r.key[at] < 0x80 {
		r.at++
		return uint64(r.key[at])
	}
	return r.long()
}

func (r *Rebuilder) long() uint64 {
	v, n := uint64(0), uint(0)
	for {
		c := r.byte()
		v |= uint64(c&0x7f) << n
		if n += 7; c < 0x80 || n >= 70 {
			return v
		}
	}
}

func (r *Rebuilder) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *Rebuilder) len() int { return int(r.uint()) }

// count is a number of things of which each takes a byte at least.
func (r *Rebuilder) count() int {
	n := r.uint()
	if n > uint64(len(r.key)-r.at) {
		r.bad = true
		return 0
	}
	return int(n)
}

// text returns the next n bytes.
func (r *Rebuilder) text(n int) string {
	if n < 0 || n > len(r.key)-r.at {
		r.bad = true
		return ""
	}
	r.at += n
	return r.key[r.at-n : r.at]
}

func (r *Rebuilder) string() string { return r.text(r.count()) }
