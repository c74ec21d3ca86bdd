package fsfake

import (
	"io"
	"slices"
	"strings"
)

// Local reports whether a call of t commutes with every call that processes of other families ([Options.ChildPids]) can
// make before it, so that no process can tell which comes first. Nothing of t's own family may act in between, and the
// others change no more than f has noted: whoever asks relies on that, and begins anew where f is refuted. still:
// nobody is stalled meanwhile. The answer false is always right.
//
// A call that ends the last use of a file is not local where the file may lose its name meanwhile: the order of the two
// decides when its inode number is free.
func (m *Machine) Local(t Task, op Op, still bool, f *Footprint) bool {
	p := m.proc(t.Pid)
	if p == nil || len(p.waits) != 0 || m.powerLoss || m.sign != "" || m.childPids == 0 {
		return false
	}
	stands := m.clockStands(t)
	l := local{m: m, p: p, f: f}
	if !l.on(item{ino: uint64(m.family(t.Pid)), what: signals}) || m.lasts && !stands || !l.call(&op, stands, still) {
		return false
	}
	for _, i := range l.items {
		f.relied[i] = true
	}
	return true
}

// LocalWay is the first way of a [CallChoose] whose call is local ([WayThatLooks]) and commutes with what processes of
// its own family can do before it, too; -1 where there is none. These have changed no more than f has noted, either.
func (m *Machine) LocalWay(op *Op, still bool, f *Footprint) int {
	if op.Call != CallChoose || f.changed[item{what: children}] || f.changed[item{what: living}] {
		return -1 // a process may be killed that has not gone on
	}
	for which, line := range strings.Split(op.Data, "\n") {
		if t, call, is := looking(line); is && m.looksAlone(t.Pid, &call) && m.Local(t, call, still, f) {
			f.relied[item{what: children}], f.relied[item{what: living}] = true, true
			return which
		}
	}
	return -1
}

// looksAlone reports whether a call only looks, and where it looks hangs on nothing that another process shares.
func (m *Machine) looksAlone(pid int, op *Op) bool {
	p := m.proc(pid)
	switch c := op.Call; {
	case p == nil:
		return false
	case c == CallRead, c == CallLseek, c == CallReaddir:
		d, uses := m.descOf(p, op.FD), int32(0)
		for _, f := range p.fds {
			if d != nil && f.desc == d.id {
				uses++
			}
		}
		return d != nil && d.refs == uses
	default:
		return c == CallOpen || c == CallFstat || c == CallPread || c.Is(Looks) && c != CallChdir
	}
}

// clockStands reports whether nothing but a stall can move the clock before t's next call, nor after it: a process that
// has begun holds up the sleeps of the others.
func (m *Machine) clockStands(t Task) bool {
	if !m.lasts {
		return m.times == TimesCoarse
	}
	_, begun := slices.BinarySearchFunc(m.paces, m.starter(t), comparePace)
	return m.timely && begun
}

// A local is a question whether a call is local. It collects what the answer relies on.
type local struct {
	m     *Machine
	p     *proc
	f     *Footprint
	items []item
}

// on reports whether nobody changes a thing.
func (l *local) on(i item) bool {
	l.items = append(l.items, i)
	return !l.f.changed[i]
}

// entry reports whether nobody changes an entry, which is there or not. One that programs make and never remove stays.
func (l *local) entry(dir *inode, name string) bool {
	there := dir.lookup(name) != 0
	return l.m.ofStart(dir) && l.on(item{dir.ino, name, removed}) && (there || l.on(item{dir.ino, name, added}))
}

// file reports whether nobody changes parts of a file. One that was not there at the start must keep its names.
func (l *local) file(n *inode, parts ...part) bool {
	is, named := true, false
	for _, of := range parts {
		if l.m.ofStart(n) {
			is = is && l.on(item{ino: n.ino, what: of})
			continue
		}
		named = false
		l.m.entriesOf(n.id, func(dir *inode, name string) {
			named = true
			is = is && l.on(item{dir.ino, name, removed}) && l.on(item{dir.ino, name, of})
		})
		is = is && named
	}
	listed := n.kind == KindDir && l.m.ofStart(n) && slices.Contains(parts, content)
	return is && (!listed || l.listing(n))
}

// listing reports whether nobody changes the entries of a directory of the start. Those of others are their content.
func (l *local) listing(dir *inode) bool {
	l.items = append(l.items, item{ino: dir.ino, what: another})
	return !slices.ContainsFunc(l.f.entries[dir.ino], func(name string) bool { return !l.entry(dir, name) })
}

func (l *local) call(op *Op, stands, still bool) bool {
	c := op.Call
	switch {
	case c == CallForkAs:
		return l.on(item{what: children}) && stands
	case c == CallExit:
		return l.on(item{what: children}) && stands && l.leaves()
	case c == CallEnd:
		// Where sleeps last, the others may sleep through to their end from then on.
		return !l.m.lasts && l.on(item{what: living}) && stands && l.leaves()
	case c == CallExec:
		return l.closes(func(d fdesc) bool { return d.cloexec })
	case c == CallNow:
		return stands && still
	case c == CallSleep:
		return l.m.lasts && stands && still
	case c == CallGetcwd:
		return l.whereabouts(l.m.inode(l.p.cwd))
	case c == CallDup, c == CallGetfd, c == CallSetfd, c == CallGetfl:
		return true
	case c.Is(Duplicates):
		return l.closes(func(d fdesc) bool { return int(d.fd) == op.FD2 })
	case c == CallClose:
		return l.closes(func(d fdesc) bool { return int(d.fd) == op.FD })
	case c == CallOpen:
		return l.opens(op)
	case c.Is(Looks) && c != CallChdir:
		n, is := l.leads(op.Path, c.Is(Follows))
		return is && (n == nil || l.shown(n))
	case c == CallLseek:
		return op.Flags == io.SeekStart || op.Flags == io.SeekCurrent || l.reads(op.FD)
	case c == CallReaddir:
		return op.Flags&LookIno == 0 && l.reads(op.FD)
	case c.Is(Reads), c == CallFstat:
		return l.reads(op.FD)
	}
	return false
}

// reads: a descriptor is open on what nobody changes, or on nothing.
func (l *local) reads(fd int) bool {
	i := l.p.fdAt(fd)
	if i < 0 || l.p.fds[i].outside() {
		return true
	}
	return l.shown(l.m.inode(l.m.desc(l.p.fds[i].desc).inode))
}

// shown reports whether nobody changes a file, and its number is known: otherwise a look may number it.
func (l *local) shown(n *inode) bool {
	of := l.m.numberedAs(n)
	known := l.m.ofStart(n) || slices.ContainsFunc(l.m.shown, func(s numbered) bool { return s.of == of })
	return known && l.file(n, content, rights)
}

// opens: an open makes and changes nothing, and finds the same at any time. On an overlay a change makes another file.
func (l *local) opens(op *Op) bool {
	if op.Flags&(O_TRUNC|O_PATH|tmpfileBit) != 0 || l.m.sealed {
		return false
	}
	n, is := l.leads(op.Path, true)
	switch {
	case !is:
		return false
	case n == nil:
		return op.Flags&O_CREAT == 0
	case n.kind == KindDir && l.m.profile.listsOpened():
		return false
	}
	return (n.kind == KindDir || n.kind == KindFile) && l.file(n, rights)
}

// leads finds the file that a path leads to; nil: there is none. It reports whether nobody changes that.
func (l *local) leads(path string, follow bool) (*inode, bool) {
	dir, path, e := l.m.from(l.p, path)
	if e != 0 || path == "" || len(path) >= maxPath {
		return nil, false
	}
	if path[0] == '/' {
		dir, path = rootID, skipSlashes(path)
	}
	n := l.m.inode(dir)
	for path != "" {
		name, rest, more := strings.Cut(path, "/")
		path = skipSlashes(rest)
		if kindOf(name) == lastDotDot || n.kind != KindDir || len(name) > maxName || !l.file(n, rights) {
			return nil, false
		}
		if kindOf(name) == lastDot {
			continue
		}
		if !l.entry(n, name) {
			return nil, false
		}
		id := n.lookup(name)
		if id == 0 {
			return nil, true
		}
		n = l.m.inode(id)
		if n.kind == KindSymlink && (follow || more) {
			return nil, false
		}
	}
	return n, true
}

// whereabouts: nobody moves a directory.
func (l *local) whereabouts(n *inode) bool {
	for n.id != rootID {
		up := l.m.inode(n.parent)
		i := slices.IndexFunc(up.names, func(e name) bool { return e.id == n.id })
		if i < 0 || !l.file(n, rights) || !l.entry(up, up.names[i].name) {
			return false
		}
		n = up
	}
	return true
}

// leaves reports whether the end of a process gives up nothing, nor a shared mapping, which keeps others from writing.
func (l *local) leaves() bool {
	mapped := slices.ContainsFunc(l.m.inodes, func(n *inode) bool { return n.shared != unshared })
	return !mapped && l.staysIn() && l.closes(func(fdesc) bool { return true })
}

// staysIn: the working directory is in use by others of the family, or nobody removes it.
func (l *local) staysIn() bool {
	shared := slices.ContainsFunc(l.m.procs, func(q *proc) bool {
		return q != l.p && q.cwd == l.p.cwd && l.m.family(q.pid) == l.m.family(l.p.pid)
	})
	return shared || l.file(l.m.inode(l.p.cwd), rights)
}

// closes reports whether closing all descriptors that are chosen gives up nothing: others share the description, or it
// has no lock and nobody changes the file, and the process has no record lock on the file, which any close would drop.
func (l *local) closes(chosen func(fdesc) bool) bool {
	for _, f := range l.p.fds {
		if !chosen(f) || f.outside() {
			continue
		}
		n := int32(0)
		for _, g := range l.p.fds {
			if g.desc == f.desc && chosen(g) {
				n++
			}
		}
		d := l.m.desc(f.desc)
		i := l.m.inode(d.inode)
		if d.refs <= n && (d.flock != 0 || i.kind != KindFile && i.kind != KindDir || !l.file(i, rights)) ||
			slices.ContainsFunc(i.records, func(r record) bool {
				return r.owner.pid == l.p.pid || d.refs <= n && r.owner.desc == d.id
			}) {
			return false
		}
	}
	return true
}
