//go:build linux && amd64

package tracer

import (
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

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
