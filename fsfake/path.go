package fsfake

import (
	"strings"
	"syscall"
)

// Limits of Linux.
const (
	maxName     = 255
	maxPath     = 4096 // with the terminating NUL
	maxSymlinks = 40
)

// A lastKind is what the last component of a path is.
type lastKind uint8

const (
	lastName   lastKind = iota
	lastDot             // "."
	lastDotDot          // ".."
	lastRoot            // there is none: "/"
)

// A place is where a path leads.
type place struct {
	dir   InodeID // the directory of the last component
	name  string  // the last component
	kind  lastKind
	slash bool    // something is after the name: trailing slashes
	id    InodeID // what is there, or 0
	// crosses: the way there followed a symlink or went up; see border.go.
	crosses bool
}

// A walker resolves the paths of one call.
type walker struct {
	m     *Machine
	p     *proc
	links int // symlinks followed so far
	// crosses: it has followed a symlink, or gone up, and may have come out of what is the machine's.
	crosses bool
}

// start checks a path as a call gets it.
func start(path string) syscall.Errno {
	switch {
	case path == "":
		return ENOENT
	case len(path) >= maxPath:
		return ENAMETOOLONG
	}
	return 0
}

// parent walks to the directory of the last component, without looking the last
// component up.
func (w *walker) parent(dir InodeID, path string) (place, syscall.Errno) {
	if path[0] == '/' {
		dir = rootID
		if path = skipSlashes(path); path == "" {
			return place{dir: rootID, kind: lastRoot}, 0
		}
	}
	for {
		d := w.m.inode(dir)
		if !d.may(w.p, mayExec) {
			return place{}, EACCES
		}
		name, slash := path, false
		if i := strings.IndexByte(path, '/'); i >= 0 {
			name, path, slash = path[:i], skipSlashes(path[i:]), true
		} else {
			path = ""
		}
		if path == "" {
			return place{dir: dir, name: name, kind: kindOf(name), slash: slash, crosses: w.crosses}, 0
		}
		var e syscall.Errno
		if dir, e = w.step(d, name); e != 0 {
			if e == errBorder {
				w.follows(path)
			}
			return place{}, e
		}
	}
}

func skipSlashes(path string) string {
	for path != "" && path[0] == '/' {
		path = path[1:]
	}
	return path
}

func kindOf(name string) lastKind {
	switch name {
	case ".":
		return lastDot
	case "..":
		return lastDotDot
	}
	return lastName
}

// step goes from d to a directory in it that is not the last component.
func (w *walker) step(d *inode, name string) (InodeID, syscall.Errno) {
	switch kindOf(name) {
	case lastDot:
		return d.id, 0
	case lastDotDot:
		return w.up(d), 0
	}
	id, e := w.child(d, name)
	if e == 0 && id == 0 {
		e = ENOENT
	}
	if e != 0 {
		return 0, e
	}
	n := w.m.inode(id)
	if n.kind == KindSymlink {
		if e := w.countLink(); e != 0 {
			return 0, e
		}
		pl, e := w.resolve(d.id, n.data, true)
		if e != 0 {
			return 0, e
		}
		n = w.m.inode(pl.id)
	}
	if n.kind != KindDir {
		return 0, ENOTDIR
	}
	return n.id, 0
}

// up goes to the directory above d.
func (w *walker) up(d *inode) InodeID {
	w.crosses = true
	return d.parent
}

// countLink is called for every symlink that is followed.
func (w *walker) countLink() syscall.Errno {
	w.crosses = true
	w.links++
	if w.links > maxSymlinks {
		return ELOOP
	}
	return 0
}

// child looks a name up in a directory; 0 when it is not there.
func (w *walker) child(d *inode, name string) (InodeID, syscall.Errno) {
	if d.nlink == 0 {
		return 0, ENOENT // a removed directory
	}
	if len(name) > maxName {
		return 0, ENAMETOOLONG
	}
	if e := w.leads(d.id, name); e != 0 {
		return 0, e
	}
	return d.lookup(name), 0
}

// last looks the last component up, without following it; id is 0 when it is absent.
func (w *walker) last(pl *place) syscall.Errno {
	w.crosses = w.crosses || pl.crosses
	switch pl.kind {
	case lastDotDot:
		pl.id = w.up(w.m.inode(pl.dir))
	case lastName:
		var e syscall.Errno
		pl.id, e = w.child(w.m.inode(pl.dir), pl.name)
		return e
	default:
		pl.id = pl.dir
	}
	return 0
}

// resolve walks to the end of a path, which must exist.
func (w *walker) resolve(dir InodeID, path string, follow bool) (place, syscall.Errno) {
	pl, e := w.parent(dir, path)
	if e == 0 {
		e = w.last(&pl)
	}
	if e != 0 {
		return pl, e
	}
	if pl.id == 0 {
		return pl, ENOENT
	}
	n := w.m.inode(pl.id)
	slash := pl.slash
	if n.kind == KindSymlink && (follow || slash) {
		if e := w.countLink(); e != 0 {
			return pl, e
		}
		if pl, e = w.resolve(pl.dir, n.data, true); e != 0 {
			return pl, e
		}
		n = w.m.inode(pl.id)
	}
	if slash && n.kind != KindDir {
		return pl, ENOTDIR
	}
	return pl, 0
}

// lookup resolves a path of a call of p.
func (m *Machine) lookup(p *proc, path string, follow bool) (InodeID, syscall.Errno) {
	if e := start(path); e != 0 {
		return 0, e
	}
	dir, path, e := m.from(p, path)
	if e != 0 {
		return 0, e
	}
	w := walker{m: m, p: p}
	pl, e := w.resolve(dir, path, follow)
	if e == 0 {
		e = w.ends(pl.id)
	}
	return pl.id, e
}

// lookupParent resolves a path up to its last component.
func (m *Machine) lookupParent(p *proc, path string) (place, syscall.Errno) {
	if e := start(path); e != 0 {
		return place{}, e
	}
	dir, path, e := m.from(p, path)
	if e != 0 {
		return place{}, e
	}
	w := walker{m: m, p: p}
	return w.parent(dir, path)
}

// lookupNew finds the place of a name that a call is to make.
func (m *Machine) lookupNew(p *proc, path string, dir bool) (place, syscall.Errno) {
	pl, e := m.lookupParent(p, path)
	if e != 0 {
		return pl, e
	}
	if pl.kind != lastName {
		return pl, EEXIST
	}
	w := walker{m: m, p: p}
	switch e = w.last(&pl); {
	case e != 0:
		return pl, e
	case pl.id != 0:
		return pl, EEXIST
	case pl.slash && !dir:
		return pl, ENOENT
	}
	return pl, m.inode(pl.dir).mayCreate(p)
}

// lookupOld finds the place of a name that a call is to remove; when the last
// component is no name the error is that of its kind.
func (m *Machine) lookupOld(p *proc, path string, dot, dotdot, root syscall.Errno) (place, syscall.Errno) {
	pl, e := m.lookupParent(p, path)
	if e != 0 {
		return pl, e
	}
	switch pl.kind {
	case lastDot:
		return pl, dot
	case lastDotDot:
		return pl, dotdot
	case lastRoot:
		return pl, root
	}
	w := walker{m: m, p: p}
	if e = w.last(&pl); e == 0 && pl.id == 0 {
		e = ENOENT
	}
	return pl, e
}
