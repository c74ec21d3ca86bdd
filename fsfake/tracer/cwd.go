//go:build linux && amd64

package tracer

import (
	"path"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// The working directory.

// chdir is chdir(2). The working directory is kept by name: that of the virtual directory is
// always right, one below it as long as nobody moves it.
func (t *thread) chdir(c *call) {
	_, pl, ok := t.name(unix.AT_FDCWD, 0, true)
	switch {
	case !ok:
	case !pl.virtual:
		t.realThen(pl, 0, func(ret int64) {
			if ret == 0 {
				t.p.cwd = ""
			}
		})
	case pl.fd >= 0:
		t.enter(t.p.fds[pl.fd].path, fsfake.Op{Call: fsfake.CallFstat, FD: t.p.fds[pl.fd].fake})
	default:
		t.enter(t.p.absolute(pl.path), fsfake.Op{Call: fsfake.CallStat, Path: pl.path})
	}
}

func (t *thread) fchdir(c *call) {
	d := t.p.fds[c.fd(0)]
	if d == nil || d.fake < 0 {
		t.passThen(func(ret int64) {
			if ret == 0 {
				t.p.cwd = ""
			}
		})
		return
	}
	t.enter(d.path, fsfake.Op{Call: fsfake.CallFstat, FD: d.fake})
}

// enter makes a directory of the fake the working one, if it is a directory that may be
// entered.
func (t *thread) enter(dir string, op fsfake.Op) {
	t.askThen(op, func(r fsfake.Result) {
		switch {
		case !r.Stat.Mode.IsDir():
			t.fail(unix.ENOTDIR)
		case !may(r.Stat, unix.X_OK):
			t.fail(unix.EACCES)
		default:
			t.p.cwd = dir
			t.result(0)
		}
	})
}

// absolute is a clean absolute path for a name as the fake gets it.
func (p *process) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.cwd, name)
}

// getcwd is the name by which the working directory is kept.
func (t *thread) getcwd(c *call) {
	switch {
	case t.p.cwd == "":
		t.pass()
	case uint64(len(t.p.cwd)) >= c.args[1]:
		t.fail(unix.ERANGE)
	default:
		t.put(c.args[0], append([]byte(t.p.cwd), 0), int64(len(t.p.cwd))+1)
	}
}
