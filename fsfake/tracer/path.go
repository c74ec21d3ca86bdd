//go:build linux && amd64

package tracer

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

const maxPath = 4096

// looksOnly are the calls by name that change nothing, but for openings, and after which each name leads where it did before. Programs make hundreds of
// them at their start, below the same few directories.
var looksOnly = map[int]bool{
	unix.SYS_OPEN: true, unix.SYS_OPENAT: true, unix.SYS_STAT: true, unix.SYS_LSTAT: true, unix.SYS_NEWFSTATAT: true, unix.SYS_STATX: true,
	unix.SYS_ACCESS: true, unix.SYS_FACCESSAT: true, unix.SYS_FACCESSAT2: true, unix.SYS_READLINK: true, unix.SYS_READLINKAT: true,
	unix.SYS_STATFS: true, unix.SYS_GETXATTR: true, unix.SYS_LGETXATTR: true, unix.SYS_LISTXATTR: true, unix.SYS_LLISTXATTR: true,
	unix.SYS_EXECVE: true, unix.SYS_EXECVEAT: true,
}

// A pathName is an absolute path, and whether its last component is followed.
type pathName struct {
	path   string
	follow bool
}

// A place is where a path leads, as far as the real file system and the working directories
// say: below the virtual directory the fake goes on.
type place struct {
	virtual bool
	path    string // as the fake gets it
	fd      int    // a real descriptor: /proc/self/fd/N of a file of the fake; else -1
	proc    int    // /proc/PID of a virtual pid; else 0
	rest    string // what follows /proc/PID
	changed bool   // path is a real path to use in place of the program's
	real    string // where it is for real, when calls are let through; empty: by the path
}

// locate says where a path leads. The links of the real file system are followed, as the
// kernel would, for one of them may lead into the virtual directory; the last component only
// if follow says so. It does not ask the fake: what is below the virtual directory is the
// fake's to resolve, with its own links, at the moment of the call.
func (t *thread) locate(dirfd int, name string, follow bool) (place, error) {
	p := t.p
	if !looksOnly[t.c.nr] {
		clear(t.r.plain)
		clear(t.r.leads)
	}
	w := walk{t: t, follow: follow}
	if path.IsAbs(name) {
		pl, known := t.r.leads[pathName{name, follow}]
		if known {
			return pl, nil
		}
		pl, err := w.from("/", name)
		if err == nil && t.r.err == nil && !w.own {
			t.r.leads[pathName{name, follow}] = pl
		}
		return pl, err
	}
	if dirfd == unix.AT_FDCWD {
		if p.cwd != "" {
			return w.relative(name)
		}
		dir, err := os.Readlink("/proc/" + strconv.Itoa(p.real) + "/cwd")
		if err != nil {
			return place{fd: -1}, nil
		}
		return w.from(dir, name)
	}
	if d := p.fds[dirfd]; d.isFake() {
		return w.relativeTo(d, name)
	}
	dir, err := os.Readlink(p.inProc(dirfd))
	if err != nil || !path.IsAbs(dir) {
		return place{fd: -1}, nil // the kernel answers EBADF or ENOTDIR
	}
	return w.from(dir, name)
}

// A walk resolves one path.
type walk struct {
	t       *thread
	follow  bool
	links   int
	changed bool // the program's own path would not lead there
	own     bool // another process's would lead elsewhere
}

// errAskCwd is that nobody but the fake knows where a path leads: out of the virtual directory or
// not, by its own "..", from a working directory that may have been renamed.
var errAskCwd = errors.New("tracer: the working directory is to be asked for")

// relative is a path from a working directory of the fake, whose process is there, too. It stays in
// the fake unless it climbs out of the virtual directory by its own "..".
func (w *walk) relative(name string) (place, error) {
	p := w.t.p
	switch g := w.t.r.region(p.cwd); {
	case g != nil && g.Partly && g.Path == p.cwd:
		w.changed = true
		return w.from(p.cwd, name)
	case g != nil:
		return place{virtual: true, path: name, fd: -1}, nil
	}
	if up := climb(name, w.depth(p.cwd)); up >= 0 {
		if !p.atDir && !w.t.asked {
			return place{fd: -1}, errAskCwd
		}
		return w.out(name[up:])
	}
	return place{virtual: true, path: name, fd: -1}, nil
}

// relativeTo is a path from an open directory of the fake.
func (w *walk) relativeTo(d *descriptor, name string) (place, error) {
	g := w.t.r.region(d.path)
	switch up := climb(name, w.depth(d.path)); {
	case g != nil && g.Partly && g.Path == d.path:
		w.changed = true
		return w.from(d.path, name)
	case g != nil:
	case up >= 0 && d.atDir:
		return w.out(name[up:])
	case up >= 0:
		w.t.unmodelled("a path out of the virtual directory from one below it (%s) that is open is not handled", d.path)
		return place{fd: -1}, unix.ENOENT
	case d.atDir:
		return place{virtual: true, path: w.t.r.c.Dir + "/" + name, fd: -1}, nil
	}
	return place{virtual: true, path: fsfake.At(d.fake, name), fd: -1}, nil
}

// depth is how far below the virtual directory another one is.
func (w *walk) depth(dir string) int {
	return strings.Count(strings.TrimPrefix(dir, w.t.r.c.Dir), "/")
}

// out goes on above the virtual directory.
func (w *walk) out(rest string) (place, error) {
	w.changed = true
	return w.from(path.Dir(w.t.r.dir), strings.TrimLeft(rest, "/"))
}

// climb finds where a path leaves the directory that is depth levels above its start: the
// position behind the "..", or -1.
func climb(name string, depth int) int {
	for i := 0; i < len(name); {
		j := i
		for j < len(name) && name[j] != '/' {
			j++
		}
		switch name[i:j] {
		case "", ".":
		case "..":
			if depth--; depth < 0 {
				return j
			}
		default:
			depth++
		}
		i = j + 1
	}
	return -1
}

// from walks a path from a real directory, given by its path without symlinks.
func (w *walk) from(dir, name string) (place, error) {
	if path.IsAbs(name) {
		dir = "/"
	}
	cur, rest := dir, name
	for {
		if cur == w.t.r.dir {
			return w.inside(strings.TrimLeft(rest, "/"), strings.HasPrefix(rest, "/"))
		}
		g := w.t.r.shared[cur]
		if g != nil && (!g.Partly || strings.Trim(rest, "/") == "") {
			return placeIn(cur, strings.TrimLeft(rest, "/"), strings.HasPrefix(rest, "/")), nil
		}
		rest = strings.TrimLeft(rest, "/")
		c, more, _ := strings.Cut(rest, "/")
		last := strings.Trim(more, "/") == ""
		switch {
		case rest == "":
			w.t.other(cur)
			return place{fd: -1, path: cur, changed: w.changed}, nil
		case c == ".":
			rest = more
			continue
		case c == "..":
			if !w.t.r.plain[cur] && !isDir(cur) {
				// as the kernel has it: no way back from there
				return place{fd: -1, path: cur + "/" + rest, changed: w.changed}, nil
			}
			cur, rest = path.Dir(cur), more
			continue
		}
		if cur == "/proc" {
			if c == "self" || c == "thread-self" {
				c = strconv.Itoa(w.t.p.pid)
			}
			if pid, err := strconv.Atoi(c); err == nil {
				return w.process(pid, more)
			}
		}
		next := path.Join(cur, c)
		if g != nil && w.t.r.shared[next] == nil && next != w.t.r.dir && g.Owns(next) && !w.t.r.inTemp(next) {
			return placeIn(next, strings.TrimLeft(more, "/"), last && strings.HasSuffix(rest, "/")), nil
		}
		if next == w.t.r.dir || w.t.r.shared[next] != nil {
			cur = next
			if rest = more; more == "" && strings.HasSuffix(name, "/") {
				rest = "/"
			}
			continue
		}
		if above, ok := strings.CutPrefix(w.t.r.dir, next); ok && above[0] == '/' && missing(next) {
			// A directory above the virtual one that does not exist: the fake has it.
			name := strings.TrimSuffix(w.t.r.c.Dir, above)
			if more != "" || strings.HasSuffix(rest, "/") {
				name += "/" + more
			}
			return place{virtual: true, path: name, fd: -1}, nil
		}
		if !last || w.follow {
			if !last && w.t.r.plain[next] {
				cur, rest = next, more
				continue
			}
			target, err := os.Readlink(next)
			if errors.Is(err, unix.EINVAL) {
				if at := w.t.r.alias(next); at != "" {
					cur, rest = "/", at+"/"+more // it may lie deep in the virtual directory
					continue
				}
				if !last {
					w.t.r.plain[next] = true
				}
			}
			if err == nil {
				if w.links++; w.links > 40 {
					return place{fd: -1}, unix.ELOOP
				}
				if path.IsAbs(target) {
					cur = "/"
				}
				rest = target + "/" + more
				if more == "" {
					rest = target
				}
				continue
			}
		}
		cur, rest = next, more
	}
}

// inside is the virtual directory, and a rest from there.
func (w *walk) inside(rest string, slash bool) (place, error) {
	if up := climb(rest, 0); up >= 0 {
		return w.out(rest[up:])
	}
	return placeIn(w.t.r.c.Dir, rest, slash), nil
}

// placeIn is a virtual name and a rest from there.
func placeIn(name, rest string, slash bool) place {
	if rest != "" || slash {
		name += "/" + rest
	}
	return place{virtual: true, path: name, fd: -1}
}

// process is /proc/PID and what follows. Descriptors and working directories of the fake are
// where they say; the rest of a process of this run is real, under its real pid.
func (w *walk) process(pid int, rest string) (place, error) {
	w.own = true
	p := w.t.r.process(pid)
	rest = strings.Trim(rest, "/")
	what, more, _ := strings.Cut(rest, "/")
	if p == nil {
		return place{fd: -1, proc: pid, rest: rest}, nil
	}
	real := path.Join("/proc", strconv.Itoa(p.real), rest)
	switch what {
	case "fd":
		num, deeper, _ := strings.Cut(more, "/")
		n, err := strconv.Atoi(num)
		if d := p.fds[n]; err == nil && d.isFake() {
			if p != w.t.p {
				n = w.t.p.sharing(n, d)
			}
			if n < 0 {
				w.t.unmodelled("a descriptor of process %d, another one, that is open on a file of the fake (%s) is not modelled", pid, d.path)
				return place{fd: -1}, unix.ENOENT
			}
			if deeper != "" {
				pl, err := w.relativeTo(d, deeper)
				pl.real = real
				return pl, err
			}
			return place{virtual: true, fd: n, real: path.Join("/proc", strconv.Itoa(w.t.p.real), "fd", strconv.Itoa(n))}, nil
		}
		if deeper != "" {
			return w.behind(path.Join("/proc", strconv.Itoa(p.real), "fd", num), deeper)
		}
	case "fdinfo":
		if n, err := strconv.Atoi(more); err == nil && p.fds[n].isFake() {
			return place{fd: -1, proc: pid, rest: rest}, nil
		}
	case "task":
		id, deeper, _ := strings.Cut(more, "/")
		for _, t := range p.threads {
			if strconv.Itoa(t.vtid()) == id {
				real = path.Join("/proc", strconv.Itoa(p.real), what, strconv.Itoa(t.tid), deeper)
			}
		}
	case "cwd":
		switch {
		case p.cwd != "" && (p != w.t.p || more == "" && !w.follow):
			w.t.unmodelled("the working directory of process %d, which is in the fake, is not modelled there", pid)
			return place{fd: -1}, unix.ENOENT
		case p.cwd != "":
			pl, err := w.relative("./" + more)
			pl.real = real
			return pl, err
		case more != "":
			return w.behind(path.Join("/proc", strconv.Itoa(p.real), what), more)
		}
	case "root":
		if more != "" {
			return w.behind(path.Join("/proc", strconv.Itoa(p.real), what), more)
		}
	}
	if what == "" || rest == "stat" || rest == "status" {
		return place{fd: -1, proc: pid, rest: rest}, nil
	}
	return place{fd: -1, path: real, changed: true}, nil
}

// sharing is a descriptor of the process for what another process has open as fd, through a fork(2) that one of
// them has come from: the same number if that is one, or the lowest; -1 for none. So a shell's test of
// /proc/$$/fd/9, which it has another program make, is of the file that both have open.
func (p *process) sharing(fd int, d *descriptor) int {
	if own := p.fds[fd]; own != nil && own.file == d.file {
		return fd
	}
	found := -1
	for n, own := range p.fds { // order does not matter: it looks for the lowest
		if own.file == d.file && (found < 0 || n < found) {
			found = n
		}
	}
	return found
}

// behind goes on from where a link of /proc leads to a real directory: what is below that may be in the virtual one.
func (w *walk) behind(link, more string) (place, error) {
	dir, err := os.Readlink(link)
	if err != nil || !path.IsAbs(dir) || missing(dir) {
		return place{fd: -1, path: path.Join(link, more), changed: true}, nil
	}
	w.changed = true
	return w.from(dir, more)
}

func isDir(name string) bool {
	fi, err := os.Stat(name)
	return err == nil && fi.IsDir()
}

func missing(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}
