//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Opening.

// open is open(2) and openat(2). A file of the fake becomes a descriptor of an epoll instance:
// the number is real and unused, no memory of the program is needed, and every call that is
// forgotten fails on it.
func (t *thread) open(dirfd, i, flags int, mode uint64) {
	name, pl, ok := t.name(dirfd, i, flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL)
	switch {
	case !ok:
	case pl.virtual && t.p.full():
		t.fail(unix.EMFILE)
	case pl.fd >= 0:
		t.unmodelled("opening a file anew through /proc/PID/fd is not modelled")
	case pl.virtual:
		op := fsfake.Op{Call: fsfake.CallOpen, Path: pl.path, Flags: flags}
		if flags&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0 {
			op.Mode = uint32(mode) & 0o7777 &^ t.p.umask
		}
		d := &descriptor{
			closes: flags&unix.O_CLOEXEC != 0, path: t.p.named(pl.path), atDir: t.isDir(pl.path) &&
				flags&unix.O_TMPFILE != unix.O_TMPFILE,
			file: &description{flags: statusFlags(flags)},
		}
		t.askThen(op, func(r fsfake.Result) {
			fifo, is := r.Value.(fsfake.FIFO)
			d.fake, d.file.fifo, d.file.locks = int(r.N), is, is // that it is closed others may wait for
			if fifo.Waits && !t.through {
				t.endOpen(d)
				return
			}
			t.placeholder(d)
		})
	case name == "/dev/urandom" || name == "/dev/random":
		t.r.draws = true
		t.passThen(func(ret int64) {
			if ret >= 0 {
				t.p.fds[int(ret)] = &descriptor{fake: -1, random: true}
			}
		})
	case flags&unix.O_PATH == 0 && pl.path == "/proc/locks": // its locks are those of the fake
		t.refuseUnlike(unix.EACCES)
	case (pl.path == "/proc/uptime" || pl.path == "/proc/stat") && flags&unix.O_PATH == 0:
		t.openClock(i, pl.path)
	case (pl.path == "/proc/loadavg" || pl.path == "/proc/sys/kernel/random/uuid") && flags&unix.O_PATH == 0:
		t.openSteady(i, pl.path)
	case pl.path == "/proc" && flags&unix.O_PATH == 0:
		t.passThen(func(ret int64) {
			if ret >= 0 {
				t.p.fds[int(ret)] = &descriptor{fake: -1, procs: true, file: &description{}}
			}
		})
	default:
		t.realOpen(pl, i, flags)
	}
}

// endOpen waits until the other end of a FIFO is open.
func (t *thread) endOpen(d *descriptor) {
	t.ask(fsfake.Op{Call: fsfake.CallOpenFIFO, FD: d.fake, Wait: true}, func(r fsfake.Result) {
		if r.Errno != 0 {
			t.unmodelled("a signal that is caught while a FIFO (%s) is opened is not modelled", d.path)
			return
		}
		t.placeholder(d)
	})
}

// statusFlags are the flags of an open that F_GETFL shows.
func statusFlags(flags int) int {
	const largeFile = 0x8000
	if flags&unix.O_PATH != 0 {
		return flags & (unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW)
	}
	return flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC|unix.O_NOCTTY|unix.O_CLOEXEC) | largeFile
}

// bit returns the flag if it is on.
func bit(on bool, flag int) int {
	if on {
		return flag
	}
	return 0
}

// placeholder makes the real descriptor for one of the fake.
func (t *thread) placeholder(d *descriptor) {
	if t.through {
		t.really(func(ret int64) { t.p.fds[int(ret)] = d })
		return
	}
	t.instead(unix.SYS_EPOLL_CREATE1, uint64(bit(d.closes, unix.O_CLOEXEC)))
	t.passThen(func(ret int64) {
		if ret < 0 {
			t.fault("there is no real descriptor for it: error %d", -ret)
			return
		}
		t.p.fds[int(ret)] = d
	})
}

func (t *thread) openat2(c *call) {
	how, err := t.openHow(c.args[2], c.args[3])
	if err != nil {
		t.failErr(err)
		return
	}
	flags, mode, resolve := how[0], how[1], how[2]
	name, pl, ok := t.name(c.fd(0), 1, true)
	switch {
	case !ok:
	case pl.virtual && resolve != 0, resolve&unix.RESOLVE_IN_ROOT != 0:
		t.c.text = fmt.Sprintf("openat2(%q, resolve %#x)", name, resolve)
		t.refuse(unix.ENOSYS) // programs go on with openat(2)
	case pl.virtual:
		t.open(c.fd(0), 1, int(flags), mode)
	default:
		t.realOpen(pl, 1, int(flags))
	}
}

// openHow reads the flags, the mode and the way to resolve names of openat2(2), which refuses what open(2) ignores.
func (t *thread) openHow(at, size uint64) (how [3]uint64, err error) {
	const (
		known = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_NOCTTY | unix.O_TRUNC | unix.O_APPEND |
			unix.O_NONBLOCK | unix.O_SYNC | unix.O_ASYNC | unix.O_DIRECT | 0o100000 /* O_LARGEFILE */ | unix.O_DIRECTORY |
			unix.O_NOFOLLOW | unix.O_NOATIME | unix.O_CLOEXEC | unix.O_PATH | unix.O_TMPFILE
		ofPath  = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
		resolve = unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_BENEATH |
			unix.RESOLVE_IN_ROOT | 0x20 /* RESOLVE_CACHED */
		inside = unix.RESOLVE_BENEATH | unix.RESOLVE_IN_ROOT
		page   = 4096
	)
	switch {
	case size < unix.SizeofOpenHow:
		return how, unix.EINVAL
	case size > page:
		return how, unix.E2BIG
	}
	text, err := readFull(t.tid, at, int(size))
	if err != nil {
		return how, err
	}
	if slices.ContainsFunc(text[unix.SizeofOpenHow:], func(b byte) bool { return b != 0 }) {
		return how, unix.E2BIG
	}
	for i := range how {
		how[i] = binary.LittleEndian.Uint64(text[8*i:])
	}
	flags, mode := how[0], how[1]
	makes := flags&(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY) != 0
	switch {
	case flags&^known != 0, how[2]&^resolve != 0, how[2]&inside == inside, mode&^0o7777 != 0, mode != 0 && !makes,
		flags&unix.O_PATH != 0 && flags&^ofPath != 0:
		return how, unix.EINVAL
	}
	return how, nil
}
