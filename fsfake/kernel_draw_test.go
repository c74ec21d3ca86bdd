package fsfake_test

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"pgregory.net/rapid"
)

// Sequences are drawn with an eye on the fake, so that most calls concern a descriptor
// that is open and a name that is there: otherwise thirty calls would see little but EBADF
// and ENOENT. What is drawn is a plain list of calls all the same.

// sequenceLength is how many calls a drawn sequence has.
const sequenceLength = 30

// A drawer draws one sequence.
type drawer struct {
	t     *rapid.T
	m     *fsfake.Machine
	s     sequence
	users bool // of several users
	busy  bool // processes come and go
	locks bool // all about locks of two files
	share bool // all about flock on descriptions that several processes have
	below map[int]*rapid.Generator[int]
}

func sequences(severalUsers bool, like fsfake.Profile) *rapid.Generator[sequence] {
	return rapid.Custom(func(t *rapid.T) sequence {
		d := &drawer{t: t, m: newFake(like, fsfake.Options{}), below: map[int]*rapid.Generator[int]{}}
		d.users = severalUsers && d.n(3) == 0
		d.busy = d.n(8) == 0
		d.locks = d.n(4) == 0
		d.share = d.n(8) == 0
		d.locks, d.busy = d.locks && !d.share, d.busy && !d.share
		for i := range 2 + d.n(2) {
			u := uint32(0)
			if d.users && i > 0 {
				u = uint32(1000 + d.n(2))
			}
			d.s.users = append(d.s.users, u)
			if severalUsers && d.n(8) == 0 {
				d.s.contained = append(d.s.contained, firstPid+i)
			}
			d.m.AddProc(fsfake.ProcSpec{Pid: firstPid + i, UID: u, GID: u, Inside: d.s.inside(firstPid + i)})
		}
		if d.share {
			d.beginShared()
		} else {
			d.begin()
		}
		for calls := len(d.s.lines); calls < sequenceLength; {
			l, ok := d.line()
			if !ok {
				break
			}
			d.add(l)
			if l.what == lineCall {
				calls++
			}
		}
		return d.s
	})
}

// newFake is a machine with a profile; that of an overlay has an image.
func newFake(like fsfake.Profile, o fsfake.Options) *fsfake.Machine {
	o.Profile = like
	m := fsfake.New(o)
	if like == fsfake.Overlay {
		m.Prepare(func(m *fsfake.Machine) { image.on(m.Proc(1), "") })
		m.SealImage()
	}
	return m
}

// A tree is what a disk has: directories, then files with a content, links and symlinks to the first
// of two.
type tree struct {
	dirs, files     []string
	links, symlinks [][2]string
}

// image is what is drawn sequences' overlay begins with.
var image = tree{
	dirs: []string{"/d", "/d/e", "/e", "/t"}, files: []string{"/a", "/d/a", "/d/e/b", "/t/x"}, symlinks: [][2]string{{"d", "/s"}},
}

// A maker makes files as package os does.
type maker interface {
	Mkdir(name string, perm fs.FileMode) error
	WriteFile(name string, data []byte, perm fs.FileMode) error
	Link(oldname, newname string) error
	Symlink(oldname, newname string) error
}

// on makes the tree below a directory.
func (t tree) on(p maker, dir string) error {
	var errs []error
	for _, d := range t.dirs {
		errs = append(errs, p.Mkdir(dir+d, 0o755))
	}
	for _, f := range t.files {
		errs = append(errs, p.WriteFile(dir+f, []byte("abc"), 0o644))
	}
	for _, l := range t.links {
		errs = append(errs, p.Link(dir+l[0], dir+l[1]))
	}
	for _, l := range t.symlinks {
		errs = append(errs, p.Symlink(l[0], dir+l[1]))
	}
	return errors.Join(errs...)
}

// n draws a number below k.
func (d *drawer) n(k int) int {
	g := d.below[k]
	if g == nil {
		g = rapid.IntRange(0, k-1)
		d.below[k] = g
	}
	return g.Draw(d.t, "")
}

func pick[T any](d *drawer, from ...T) T { return from[d.n(len(from))] }

// begin draws a disk that is worth looking at.
func (d *drawer) begin() {
	mode := func(m uint32) uint32 {
		if d.users {
			return m | 0o022
		}
		return m
	}
	for _, op := range []fsfake.Op{
		{Call: fsfake.CallMkdir, Path: "/d", Mode: mode(0o755)},
		{Call: fsfake.CallOpen, Path: "/a", Flags: fsfake.O_RDWR | fsfake.O_CREAT, Mode: mode(0o644)},
		{Call: fsfake.CallMkdir, Path: "/d/e", Mode: 0o700},
		{Call: fsfake.CallSymlink, Path: "/s", Path2: pick(d, "d", "a", "s", "/d", "no", "/tmp/../d")},
		{Call: fsfake.CallChmod, Path: "/d", Mode: 0o1777},
	} {
		if d.n(2) == 0 && (d.users || op.Call != fsfake.CallChmod) {
			d.add(line{pid: firstPid, op: op})
		}
	}
}

// beginShared draws processes that share descriptions of one file: A has one or two, and
// its children have them too. The others have theirs.
func (d *drawer) beginShared() {
	open := func(pid int) {
		d.add(line{pid: pid, op: fsfake.Op{Call: fsfake.CallOpen, Path: "/a", Flags: fsfake.O_RDWR | fsfake.O_CREAT, Mode: 0o666}})
	}
	for range 1 + d.n(2) {
		open(firstPid)
	}
	for range 1 + d.n(3) {
		d.add(line{pid: firstPid, op: fsfake.Op{Call: fsfake.CallFork}})
	}
	for i := range d.s.users[1:] {
		open(firstPid + 1 + i)
		if d.n(2) == 0 {
			open(firstPid + 1 + i)
		}
	}
}

// shared draws what processes do that share descriptions: most often they want to lock one
// alone, or let it go.
func (d *drawer) shared(pid int) fsfake.Op {
	op := fsfake.Op{Call: fsfake.CallFlock, FD: d.fd(pid)}
	switch n := d.n(20); {
	case n < 2:
		op.Call = fsfake.CallClose
	case n < 8:
		op.Flags = fsfake.LOCK_EX
	case n < 13:
		op.Flags = fsfake.LOCK_SH
	case n < 15:
		op.Flags = fsfake.LOCK_SH | fsfake.LOCK_NB
	case n < 17:
		op.Flags = fsfake.LOCK_EX | fsfake.LOCK_NB
	default:
		op.Flags = fsfake.LOCK_UN
	}
	return op
}

// add appends a line and follows it on the fake.
func (d *drawer) add(l line) {
	d.s.lines = append(d.s.lines, l)
	d.m.Advance(time.Millisecond)
	task := fsfake.Task{Pid: l.pid, N: 1}
	switch l.what {
	case lineLook:
	case lineKill:
		d.m.KillProc(l.pid)
	case lineInterrupt:
		d.m.Interrupt(task)
	default:
		d.m.Do(task, l.op)
	}
	for again := true; again; { // who goes on may let others go on
		again = false
		for _, pid := range d.m.Pids() {
			t := fsfake.Task{Pid: pid, N: 1}
			if op, ok := d.m.Blocked(t); ok && d.m.Ready(t, op) {
				d.m.Do(t, op)
				again = true
			}
		}
	}
}

// line draws the next line; false when nobody can make a call any more.
func (d *drawer) line() (line, bool) {
	if d.n(20) == 0 {
		return line{what: lineLook}, true
	}
	var free, blocked []int
	for _, pid := range d.m.Pids() {
		if pid < firstPid {
			continue
		}
		if _, ok := d.m.Blocked(fsfake.Task{Pid: pid, N: 1}); ok {
			blocked = append(blocked, pid)
		} else {
			free = append(free, pid)
		}
	}
	if len(blocked) > 0 && (len(free) == 0 || d.n(12) == 0) {
		pid := pick(d, blocked...)
		if (d.busy || d.share) && d.n(3) == 0 {
			return line{what: lineKill, pid: pid}, true
		}
		return line{what: lineInterrupt, pid: pid}, true
	}
	if len(free) == 0 {
		return line{}, false
	}
	pid := pick(d, free...)
	if d.s.contained != nil && d.n(10) == 0 {
		return line{pid: pid, op: d.opOf(pid, fsfake.CallKill)}, true
	}
	if d.share && d.n(12) != 0 {
		return line{pid: pid, op: d.shared(pid)}, true
	}
	if d.busy && len(free)+len(blocked) > 1 {
		if d.n(60) == 0 {
			return line{what: lineKill, pid: pid}, true
		}
		c := d.weighed(func(r *tried) int { return r.life }, 60)
		if c != fsfake.CallNone && (c != fsfake.CallFork || len(free)+len(blocked) < 5) {
			return line{pid: pid, op: d.opOf(pid, c)}, true
		}
	}
	if len(d.m.FDs(pid)) == 0 && d.n(2) == 0 {
		return line{pid: pid, op: d.open()}, true
	}
	return line{pid: pid, op: d.op(pid)}, true
}

// op draws a call.
func (d *drawer) op(pid int) fsfake.Op {
	if d.locks && d.n(8) != 0 {
		return d.opOf(pid, pick(d, fsfake.CallOpen, fsfake.CallFlock, fsfake.CallFlock, fsfake.CallFlock, fsfake.CallSetlk,
			fsfake.CallSetlk, fsfake.CallSetlk, fsfake.CallOFDSetlk, fsfake.CallOFDSetlk, fsfake.CallGetlk, fsfake.CallOFDGetlk,
			fsfake.CallClose, fsfake.CallDup, fsfake.CallWrite))
	}
	return d.opOf(pid, d.weighed(func(r *tried) int { return r.weight }, 0))
}

// weighed draws a call, each as often as its weight says; CallNone, when all of them are to
// come up less often than total, which is at least their sum, otherwise.
func (d *drawer) weighed(weight func(*tried) int, total int) fsfake.Call {
	sum := 0
	for i := range callTable {
		sum += weight(&callTable[i])
	}
	n := d.n(max(sum, total))
	for i := range callTable {
		if n -= weight(&callTable[i]); n < 0 {
			return fsfake.Call(i)
		}
	}
	return fsfake.CallNone
}

// opOf draws the operands of a call.
func (d *drawer) opOf(pid int, c fsfake.Call) fsfake.Op {
	r := rowOf(c)
	if r.draw != nil {
		return r.draw(d)
	}
	op := fsfake.Op{Call: c}
	for _, w := range strings.Fields(r.words) {
		vocabulary[w].draw(d, pid, &op)
	}
	return op
}

// fd draws a descriptor, most often one that is open.
func (d *drawer) fd(pid int) int {
	if fds := d.m.FDs(pid); len(fds) > 0 && d.n(12) != 0 {
		return pick(d, fds...).FD
	}
	return pick(d, 3, 3, 4, 5, 6, -1, 900, 0, 1, 2)
}

func (d *drawer) mode() uint32 {
	if !d.users {
		return pick[uint32](d, 0o644, 0o755, 0o600, 0o777, 0, 0o1777, 0o6755, 0o2775)
	}
	return pick[uint32](d, 0o644, 0o666, 0o666, 0o755, 0o777, 0o777, 0o600, 0, 0o444, 0o555, 0o222, 0o1777, 0o1777,
		0o6755, 0o2775, 0o070, 0o007, 0o2777)
}

// open draws an open: every flag, most often those that make sense together.
func (d *drawer) open() fsfake.Op {
	if d.locks && d.n(8) != 0 {
		return fsfake.Op{
			Call: fsfake.CallOpen, Path: pick(d, "/a", "/a", "/a", "/b"), Mode: 0o666,
			Flags: fsfake.O_CREAT | pick(d, fsfake.O_RDWR, fsfake.O_RDWR, fsfake.O_RDONLY, fsfake.O_WRONLY) | pick(d, 0, fsfake.O_CLOEXEC),
		}
	}
	op := fsfake.Op{Call: fsfake.CallOpen, Mode: d.mode()}
	op.Flags = pick(d, fsfake.O_RDWR, fsfake.O_RDWR, fsfake.O_RDWR, fsfake.O_WRONLY, fsfake.O_RDONLY)
	for _, f := range []struct{ flag, oneIn int }{
		{fsfake.O_CREAT, 2}, {fsfake.O_EXCL, 6}, {fsfake.O_TRUNC, 6}, {fsfake.O_APPEND, 6}, {fsfake.O_CLOEXEC, 3},
		{fsfake.O_NOFOLLOW, 12}, {fsfake.O_DIRECTORY, 16}, {fsfake.O_TMPFILE, 24},
		{fsfake.O_SYNC, 60}, {fsfake.O_NONBLOCK, 60}, {fsfake.O_PATH, 30}, {fsfake.O_NOATIME, 40},
	} {
		if d.n(f.oneIn) == 0 {
			op.Flags |= f.flag
		}
	}
	dir := op.Flags&fsfake.O_DIRECTORY != 0
	if dir && d.n(5) != 0 {
		op.Flags &^= fsfake.O_CREAT
		if op.Flags&fsfake.O_TMPFILE != fsfake.O_TMPFILE {
			op.Flags &^= fsfake.O_RDWR | fsfake.O_WRONLY | fsfake.O_TRUNC
		}
		op.Path = pick(d, "/d", "/", "/tmp", "d/e", "/s", "/d/", "/a")
		return op
	}
	op.Path = d.path(true)
	return op
}

// names are what is in a directory, paths what leads to one.
var (
	names = []string{"a", "b", "d", "s", "t", "e"}
	paths = []string{"/", "/", "/", "/d/", "/d/", "", "/tmp/", "/s/", "/d/e/", "d/", "/d/../", "/e/", "/d/d/"}
)

// path draws a name; one that is there, if there should be something.
func (d *drawer) path(there bool) string {
	p := ""
	if there && d.n(3) != 0 {
		p = d.existing()
	}
	if p == "" {
		p = pick(d, paths...) + pick(d, names...)
	}
	if d.n(8) == 0 { // relative to a directory that is open
		return fsfake.At(3+d.n(4), pick(d, names...)+pick(d, "", "", "", "/", "/..", "/x"))
	}
	switch d.n(60) {
	case 0, 1, 2, 3:
		p += "/"
	case 4:
		p += "/."
	case 5:
		p += "/.."
	case 6:
		p = strings.ReplaceAll(p, "/", "//")
	case 7:
		p = pick(d, "", "/", ".", "..", "/..", "a\x00b", strings.Repeat("x", 255), strings.Repeat("x", 256), "/d/"+strings.Repeat("x", 256),
			strings.Repeat("/d/..", 819)[1:], strings.Repeat("/", 4095), strings.Repeat("/", 4096))
	}
	return p
}

// existing draws a path that is there.
func (d *drawer) existing() string {
	var all []string
	var walk func(dir string, id fsfake.InodeID, depth int)
	walk = func(dir string, id fsfake.InodeID, depth int) {
		for _, n := range d.m.View(id).Names {
			all = append(all, dir+"/"+n)
			if c, ok := d.m.Lookup(dir + "/" + n); ok && depth < 3 && d.m.View(c).Kind == fsfake.KindDir {
				walk(dir+"/"+n, c, depth+1)
			}
		}
	}
	root, _ := d.m.Lookup("/")
	walk("", root, 0)
	all = slices.DeleteFunc(all, func(p string) bool { return p == "/tmp" })
	if len(all) == 0 {
		return ""
	}
	return pick(d, all...)
}
