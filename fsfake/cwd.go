package fsfake

import (
	"path"
	"strconv"
	"strings"
	"syscall"
)

// Where relative names begin: at the working directory, or at a directory that a process has
// open. Both are directories, and not their names: a rename takes them along.

// At is the name that a call by name gives to what openat(2) and its kin call name, relative to
// the directory that a descriptor is open on: that of /proc/self/fd, which leads there on Linux,
// too. An empty name is the directory itself.
func At(fd int, name string) string {
	if name == "" {
		return descriptors + strconv.Itoa(fd)
	}
	return descriptors + strconv.Itoa(fd) + "/" + name
}

const descriptors = "/proc/self/fd/"

// SplitAt is the reverse of [At]; false for any other name.
func SplitAt(name string) (fd int, rest string, ok bool) {
	after, ok := strings.CutPrefix(name, descriptors)
	if !ok {
		return 0, "", false
	}
	number, rest, _ := strings.Cut(after, "/")
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 0 || strconv.Itoa(fd) != number || strings.HasPrefix(rest, "/") {
		return 0, "", false
	}
	return fd, rest, true
}

// from returns the directory where a call's path begins, and the path from there.
func (m *Machine) from(p *proc, name string) (InodeID, string, syscall.Errno) {
	if len(name) == 0 || name[0] != '/' {
		return p.cwd, name, 0
	}
	fd, rest, ok := SplitAt(name)
	if !ok {
		return p.cwd, name, 0
	}
	at := p.fdAt(fd)
	if at < 0 {
		return 0, "", EBADF
	}
	if p.fds[at].outside() { // the standard streams are no directories
		return 0, "", ENOTDIR
	}
	d := m.desc(p.fds[at].desc)
	switch {
	case m.inode(d.inode).kind != KindDir:
		return 0, "", ENOTDIR
	case rest == "":
		rest = "."
	}
	return d.inode, rest, 0
}

// chdir is chdir(2), and fchdir(2) for a name as [At] makes it of no name.
func (m *Machine) chdir(p *proc, name string) syscall.Errno {
	id, e := m.lookup(p, name, true)
	if e != 0 {
		return e
	}
	switch n := m.inode(id); {
	case n.kind != KindDir:
		return ENOTDIR
	case !n.may(p, mayExec):
		return EACCES
	}
	if was := p.cwd; was != id {
		m.mutProc(p.pid).cwd = id
		m.version++
		m.reap(was)
	}
	return 0
}

// getcwd is getcwd(2).
func (m *Machine) getcwd(p *proc, r *Result) {
	names := m.Paths(p.cwd)
	if len(names) == 0 {
		r.Errno = ENOENT
		return
	}
	if len(names[0]) >= maxPath {
		*r = unmodelled("the name of a working directory of more than %d bytes", maxPath-1)
		return
	}
	r.N, r.Data = int64(len(names[0])), names[0]
}

// Absolute returns the absolute, clean path that a name as a process's call gets it has now; a
// removed directory counts as the root.
func (m *Machine) Absolute(pid int, name string) string {
	if fd, rest, ok := SplitAt(name); ok {
		if id, open := m.FDInode(pid, fd); open {
			dir := ""
			if names := m.Paths(id); len(names) > 0 {
				dir = names[0]
			}
			return path.Clean("/" + dir + "/" + rest)
		}
	}
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Clean("/" + m.Cwd(pid) + "/" + name)
}
