//go:build linux && amd64

package tracer

import (
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Links, symbolic ones too, and renames.

func (t *thread) readlink(dirfd, i int) {
	buf, size := t.c.args[i+1], t.c.int(i+2)
	if size <= 0 {
		t.fail(unix.EINVAL)
		return
	}
	if d := t.p.fds[dirfd]; d.isFake() && t.emptyPath(i) {
		t.readlinkOf(d)
		return
	}
	_, pl, ok := t.name(dirfd, i, false)
	switch {
	case !ok:
	case pl.fd >= 0:
		t.unmodelled("of a file of the fake it is not modelled")
	case pl.proc != 0 && pl.rest == "":
		t.put(buf, []byte(cut(strconv.Itoa(t.p.pid), size)), int64(len(cut(strconv.Itoa(t.p.pid), size)))) // /proc/self
	case !pl.virtual:
		t.real(pl, i)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallReadlink, Path: pl.path}, func(r fsfake.Result) {
			if t.through {
				t.really(func(ret int64) {
					b, _ := readMem(t.tid, buf, int(ret))
					t.kernel.Data = string(b)
				})
				return
			}
			data := cut(r.Data, size)
			t.put(buf, []byte(data), int64(len(data)))
		})
	}
}

// readlinkOf is readlinkat(2) of what a descriptor is open on, by an empty name. Only O_PATH opens a symlink.
func (t *thread) readlinkOf(d *descriptor) {
	if d.file.flags&unix.O_PATH == 0 {
		t.fail(unix.ENOENT)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake, Flags: fsfake.LookType}, func(r fsfake.Result) {
		if r.Stat.Mode&fs.ModeSymlink != 0 {
			t.unmodelled("of a file of the fake (%s), by an empty name, it is not modelled", d.path)
			return
		}
		t.refused = unix.ENOENT
		t.fail(unix.ENOENT)
	})
}

func cut(s string, n int) string { return s[:min(len(s), max(n, 0))] }

func (t *thread) symlink(dirfd, i int) {
	target, err := readString(t.tid, t.c.args[0], maxPath)
	if err != nil {
		t.failErr(err)
		return
	}
	if target == "" {
		t.fail(unix.ENOENT)
		return
	}
	t.oneName(dirfd, i, false, fsfake.Op{Call: fsfake.CallSymlink, Path2: target})
}

// twoNames locates both names of a rename or link. Between the fake and the rest there is a
// border as between two file systems.
func (t *thread) twoNames(olddir, i, newdir, j int, follow bool) (from, to place, ok bool) {
	old, from, ok := t.name(olddir, i, follow)
	if !ok {
		return from, to, false
	}
	name, to, ok := t.name(newdir, j, false)
	if !ok {
		return from, to, false
	}
	t.c.text = t.c.spec.name + "(" + strconv.Quote(old) + ", " + strconv.Quote(name) + ")"
	moves := t.c.nr != unix.SYS_LINK && t.c.nr != unix.SYS_LINKAT
	for _, n := range []struct {
		name string
		place
		dirfd int
	}{{old, from, olddir}, {name, to, newdir}} {
		if from.virtual != to.virtual && !n.virtual && n.path == "" && n.proc == 0 { // it leads nowhere
			t.fail(t.nowhere(n.name, n.dirfd))
			return from, to, false
		}
	}
	// A link of /proc itself is on another file system than what it leads to.
	if from.fd >= 0 && !follow {
		from = place{fd: -1, path: from.real, changed: true}
	}
	if to.fd >= 0 {
		to = place{fd: -1, path: to.real, changed: true}
	}
	switch {
	case !from.virtual && (moves && t.protects(from.path, removes) || !moves && t.protects(from.path, changes)):
	case !to.virtual && (moves && t.protects(to.path, replaces) || !moves && t.protects(to.path, makes)):
	case moves && (t.movesRegion(from.path) || t.movesRegion(to.path)):
	case from.virtual != to.virtual || from.virtual && t.device(from) != t.device(to):
		t.across(from, to, moves, follow)
	case from.virtual:
		return from, to, true
	case from.changed || to.changed || from.proc != 0 || to.proc != 0:
		t.unmodelled("on files of /proc it is not handled")
	default:
		t.passThen(t.noting(from.path, to.path))
	}
	return from, to, false
}

// across answers a rename or link between two file systems, after what the kernel looks at first: of a rename the
// directory of the old name, of a link the old name itself and whether the new one is free.
func (t *thread) across(from, to place, moves, follow bool) {
	op := fsfake.Op{Call: fsfake.CallLstat, Path: from.path}
	switch dir := path.Dir(strings.TrimRight(from.path, "/")); {
	case moves && (!from.virtual || t.isDir(dir)):
		t.fail(unix.EXDEV)
		return
	case moves:
		op = fsfake.Op{Call: fsfake.CallStat, Path: dir + "/."}
	case follow:
		op.Call = fsfake.CallStat
	}
	answer := func(why syscall.Errno) { // the look has succeeded, and the call itself fails
		t.refused = why
		t.fail(why)
	}
	onto := func(fsfake.Result) {
		switch there := t.isThere(to); {
		case moves, !to.virtual && !there && to.proc == 0 && !below(to.path, "/proc"):
			answer(unix.EXDEV)
		case !to.virtual && !there:
			answer(unix.ENOENT) // no name can be made there
		case !to.virtual:
			answer(unix.EEXIST)
		default:
			t.fakeOnly = true // a directory that stands for this one may be on the other file system
			t.ask(fsfake.Op{Call: fsfake.CallLstat, Path: to.path}, func(r fsfake.Result) {
				if r.Errno != 0 {
					answer(unix.EXDEV)
					return
				}
				answer(unix.EEXIST)
			})
		}
	}
	switch {
	case from.virtual:
		t.askThen(op, onto)
	case !t.isThere(from):
		t.fail(unix.ENOENT)
	default:
		onto(fsfake.Result{})
	}
}

// isThere reports whether a real name is.
func (t *thread) isThere(pl place) bool {
	if p := t.r.process(pl.proc); pl.proc != 0 && p != nil {
		pl.path = path.Join("/proc", strconv.Itoa(p.real), pl.rest)
	}
	return unix.Lstat(pl.path, new(unix.Stat_t)) == nil
}

// nowhere is why a name leads nowhere: it is empty, or relative to what is no directory, or not open.
func (t *thread) nowhere(name string, dirfd int) syscall.Errno {
	switch {
	case name == "":
		return unix.ENOENT
	case t.p.open(dirfd):
		return unix.ENOTDIR
	}
	return unix.EBADF
}

func (t *thread) rename(olddir, i, newdir, j, flags int) {
	const one = unix.RENAME_NOREPLACE | unix.RENAME_WHITEOUT
	if flags&^(one|unix.RENAME_EXCHANGE) != 0 || flags&one != 0 && flags&unix.RENAME_EXCHANGE != 0 {
		t.fail(unix.EINVAL)
		return
	}
	from, to, ok := t.twoNames(olddir, i, newdir, j, false)
	switch {
	case !ok:
	case path.Clean(from.path) == t.r.c.Dir || path.Clean(to.path) == t.r.c.Dir:
		t.fail(unix.EBUSY)
	default:
		t.askZero(fsfake.Op{Call: fsfake.CallRename, Path: from.path, Path2: to.path, Flags: flags})
	}
}

func (t *thread) link(olddir, i, newdir, j, flags int) {
	if flags&^(unix.AT_SYMLINK_FOLLOW|unix.AT_EMPTY_PATH) != 0 {
		t.fail(unix.EINVAL)
		return
	}
	if flags&unix.AT_EMPTY_PATH != 0 && olddir != unix.AT_FDCWD && t.emptyPath(i) && !t.p.open(olddir) {
		t.fail(unix.EBADF)
		return
	}
	if d := t.p.fds[olddir]; flags&unix.AT_EMPTY_PATH != 0 && d.isFake() && t.emptyPath(i) {
		t.oneNameOf(newdir, j, fsfake.Op{Call: fsfake.CallLinkFD, FD: d.fake})
		return
	}
	if flags&unix.AT_EMPTY_PATH != 0 && t.p.cwd != "" && t.emptyPath(i) {
		t.unmodelled("of the working directory, by an empty name, it is not modelled")
		return
	}
	from, to, ok := t.twoNames(olddir, i, newdir, j, flags&unix.AT_SYMLINK_FOLLOW != 0)
	switch {
	case !ok:
	case from.fd >= 0:
		t.askZero(fsfake.Op{Call: fsfake.CallLinkFD, FD: t.p.fds[from.fd].fake, Path2: to.path})
	default:
		t.askZero(fsfake.Op{Call: fsfake.CallLink, Path: from.path, Path2: to.path, Flags: flags & unix.AT_SYMLINK_FOLLOW})
	}
}

// oneNameOf is oneName for an op whose only name is the new one.
func (t *thread) oneNameOf(dirfd, i int, op fsfake.Op) {
	_, pl, ok := t.name(dirfd, i, false)
	switch {
	case !ok:
	case !pl.virtual || pl.fd >= 0:
		t.fail(unix.EXDEV)
	default:
		op.Path2 = pl.path
		t.askZero(op)
	}
}
