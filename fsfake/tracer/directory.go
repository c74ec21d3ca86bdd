//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"errors"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Reading directories, and seeking.

// A listing is what a description of a directory has still to give.
type listing struct {
	names []string
	inos  []uint64 // of each name
	read  bool     // the fake has given them
	given int
}

// getdents gives the names of a directory, which the fake reads in one step, in pieces.
func (t *thread) getdents(c *call) {
	if d := t.p.fds[c.fd(0)]; d != nil && d.procs {
		t.listProcs(&d.file.dir)
		return
	}
	d := t.fake(0)
	if d == nil {
		return
	}
	l := &d.file.dir
	if l.read && l.given < len(l.names) {
		t.giveNames(l)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallReaddir, FD: d.fake, Flags: fsfake.LookIno}, func(r fsfake.Result) {
		data, through := r.Data, t.through
		t.through = false // the tracer itself looks
		if through && !l.read {
			names, err := t.realNames(c.fd(0), d)
			if err != nil {
				t.kernel.Errno = errnoOf(err)
				t.fail(t.kernel.Errno)
				return
			}
			data = strings.Join(names, "\x00")
			t.kernel.Data, t.kernel.N, t.kernel.Value = data, int64(len(names)), r.Value
		}
		if l.read {
			t.result(0)
			return
		}
		names := []string{".", ".."}
		if data != "" {
			names = append(names, strings.Split(data, "\x00")...)
		}
		*l = listing{names: names, inos: t.inodes(d, names, r), read: true}
		t.giveNames(l)
	})
}

// inodes are the numbers of what is listed, as stat(2) shows them: those of the fake, and of what is real its own.
func (t *thread) inodes(d *descriptor, names []string, r fsfake.Result) []uint64 {
	known := map[string]uint64{}
	text, _ := r.Value.(string)
	listed := append([]string{".", ".."}, strings.Split(r.Data, "\x00")...)
	for i, digits := range strings.Fields(text) {
		known[listed[i]], _ = strconv.ParseUint(digits, 10, 64)
	}
	if d.atDir {
		known[".."] = 0 // it is real
	}
	dir := d.path
	if d.atDir {
		dir = t.r.dir
	}
	all := make([]uint64, len(names))
	for i, name := range names {
		var st unix.Stat_t
		if all[i] = known[name]; all[i] == 0 && unix.Lstat(path.Join(dir, name), &st) == nil {
			all[i] = st.Ino
		}
	}
	return all
}

// realNames lists the directory that a real descriptor is open on, sorted, as the fake lists
// one. The kernel's own order differs from file system to file system, and so do the kinds that
// it tells with the names: here a program always sees them sorted, and of no known kind.
func (t *thread) realNames(fd int, d *descriptor) ([]string, error) {
	if d.file.flags&unix.O_PATH != 0 {
		return nil, unix.EBADF
	}
	entries, err := os.ReadDir(t.p.inProc(fd))
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return t.p.withReal(fd, names), err
}

// errnoOf is the error number in an error of package os, or EIO.
func errnoOf(err error) syscall.Errno {
	var e syscall.Errno
	if !errors.As(err, &e) {
		return unix.EIO
	}
	return e
}

// giveNames writes as many struct linux_dirent64 as fit.
func (t *thread) giveNames(l *listing) {
	size, from := t.c.int(2), l.given
	var b []byte
	for l.given < len(l.names) {
		name := l.names[l.given]
		n := (19 + len(name) + 1 + 7) &^ 7
		if len(b)+n > size {
			break
		}
		e := putUint64s(max(1, l.inos[l.given]), uint64(l.given+1))
		e = binary.LittleEndian.AppendUint16(e, uint16(n))
		e = append(e, unix.DT_UNKNOWN)
		if l.given < 2 {
			e[18] = unix.DT_DIR
		}
		e = append(e, name...)
		b = append(b, append(e, make([]byte, n-len(e))...)...)
		l.given++
	}
	if len(b) == 0 {
		t.fail(unix.EINVAL)
		return
	}
	if writeMem(t.tid, t.c.args[1], b) != nil {
		l.given = from
		t.fail(unix.EFAULT)
		return
	}
	t.result(int64(len(b)))
}

func (t *thread) lseek(c *call) {
	if d := t.p.fds[c.fd(0)]; d != nil && d.procs {
		d.file.dir = listing{}
	}
	d := t.fake(0)
	if d == nil {
		return
	}
	op := fsfake.Op{Call: fsfake.CallLseek, FD: d.fake, Off: int64(c.args[1]), Flags: c.int(2)}
	t.askThen(op, func(r fsfake.Result) {
		d.file.dir = listing{}
		t.result(r.N)
	})
}

// The working directory. One of the fake is the fake's own affair: its process is there, wherever
// others rename it to. What is kept here beside that is how it was called when it was entered.

func (t *thread) chdir(*call) {
	_, pl, ok := t.name(unix.AT_FDCWD, 0, true)
	switch {
	case !ok:
	case !pl.virtual:
		t.realThen(pl, 0, t.left)
	case pl.fd >= 0:
		t.enterOpen(t.p.fds[pl.fd])
	default:
		t.enter(t.p.named(pl.path), t.isDir(pl.path), pl.path)
	}
}

func (t *thread) fchdir(c *call) {
	d := t.p.fds[c.fd(0)]
	if !d.isFake() {
		t.passThen(t.left)
		return
	}
	t.enterOpen(d)
}

func (t *thread) enterOpen(d *descriptor) { t.enter(d.path, d.atDir, fsfake.At(d.fake, "")) }

// left: the working directory is a real one now.
func (t *thread) left(ret int64) {
	if ret == 0 {
		t.p.cwd, t.p.atDir = "", false
	}
}

func (t *thread) enter(called string, atDir bool, name string) {
	t.askThen(fsfake.Op{Call: fsfake.CallChdir, Path: name}, func(fsfake.Result) {
		entered := func(int64) { t.p.cwd, t.p.atDir = called, atDir }
		if t.through { // the kernel may refuse it
			t.really(entered)
			return
		}
		entered(0)
		t.result(0)
	})
}

// isDir reports whether a name, as the fake gets it, surely leads to the virtual directory: ".."
// may lead elsewhere, behind a symbolic link or from a directory that was renamed.
func (t *thread) isDir(name string) bool {
	if strings.Contains(name, "..") {
		return false
	}
	if !path.IsAbs(name) {
		return t.p.atDir && path.Clean(name) == "."
	}
	return path.Clean(name) == t.r.c.Dir
}

// named is a clean absolute path for a name as the fake gets it.
func (p *process) named(name string) string {
	if name == "" {
		return ""
	}
	if fd, rest, ok := fsfake.SplitAt(name); ok {
		for _, d := range p.fds { // order does not matter: one has that descriptor
			if d.fake == fd {
				return path.Join(d.path, rest)
			}
		}
	}
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.cwd, name)
}

// askCwd asks where the working directory is by now, and begins the call again with that.
func (t *thread) askCwd() {
	t.ask(fsfake.Op{Call: fsfake.CallGetcwd}, func(r fsfake.Result) {
		if r.Errno != 0 {
			t.unmodelled("a path out of the virtual directory from one that has been removed is not handled")
			return
		}
		t.p.cwd, t.asked, t.subst = r.Data, true, nil
		t.c.spec.do(t, &t.c)
	})
}

// getcwd answers without asking where nobody can have renamed the directory.
func (t *thread) getcwd(c *call) {
	give := func(name string) {
		if uint64(len(name)) >= c.args[1] {
			t.fail(unix.ERANGE)
			return
		}
		t.put(c.args[0], append([]byte(name), 0), int64(len(name))+1)
	}
	switch {
	case t.preloads():
		t.fail(unix.ENOENT)
	case t.p.cwd == "":
		t.pass()
	case t.p.atDir:
		give(t.p.cwd)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallGetcwd}, func(r fsfake.Result) { give(r.Data) })
	}
}
