//go:build linux

package kernel

import (
	"bytes"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Is a worker that has not answered blocked? It is when it sleeps in the lock call, and
// still does when looked at again, without having run in between. What a sleeping task's
// /proc/PID/syscall names is not enough: a task that has just been woken on another CPU
// shows its last call. So two looks must agree, also on the third field of schedstat,
// which counts how often the task was put on a CPU.

// A watcher looks at one thread of a worker. Its files stay open: to read one again is
// cheaper than to open it.
type watcher struct {
	stat, syscall, schedstat int
	buf                      [512]byte
}

func newWatcher(pid, tid int) (*watcher, error) {
	w := &watcher{stat: -1, syscall: -1, schedstat: -1}
	for _, f := range []struct {
		fd   *int
		name string
	}{{&w.stat, "stat"}, {&w.syscall, "syscall"}, {&w.schedstat, "schedstat"}} {
		fd, err := unix.Open(fmt.Sprintf("/proc/%d/task/%d/%s", pid, tid, f.name), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("kernel: looking at worker %d: %w", pid, err)
		}
		*f.fd = fd
	}
	return w, nil
}

func (w *watcher) close() {
	for _, fd := range []int{w.stat, w.syscall, w.schedstat} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (w *watcher) read(fd int) []byte {
	n, err := unix.Pread(fd, w.buf[:], 0)
	if err != nil {
		return nil
	}
	return w.buf[:n]
}

// state returns the letter of the thread's state: 'S' asleep, 'R' running, 'Z' dead; 0
// when it is gone.
func (w *watcher) state() byte {
	b := w.read(w.stat)
	if i := bytes.LastIndexByte(b, ')'); i >= 0 && i+2 < len(b) {
		return b[i+2]
	}
	return 0
}

// inCall reports whether the thread is in one of the lock calls, or reads a FIFO.
func (w *watcher) inCall() bool {
	nr, _, _ := bytes.Cut(w.read(w.syscall), []byte(" "))
	n, err := strconv.Atoi(string(nr))
	return err == nil && (n == unix.SYS_FLOCK || n == unix.SYS_FCNTL || n == unix.SYS_READV)
}

// runs returns how often the thread was put on a CPU.
func (w *watcher) runs() string {
	f := bytes.Fields(w.read(w.schedstat))
	if len(f) < 3 {
		return "?"
	}
	return string(f[2])
}

// blocked reports whether the thread sleeps in such a call.
func (w *watcher) blocked() bool {
	before := w.runs()
	if w.state() != 'S' || !w.inCall() {
		return false
	}
	return w.state() == 'S' && w.inCall() && w.runs() == before
}

// gone reports whether the thread has ended.
func (w *watcher) gone() bool {
	s := w.state()
	return s == 0 || s == 'Z' || s == 'X'
}

// What this kernel tells of a file, as the fake tells it.

func (c *caller) stat(fd int, p string, flags int) fsfake.Result {
	var x unix.Statx_t
	if err := unix.Statx(fd, p, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x); err != nil {
		return failed(err)
	}
	st := statOf(&x)
	if c.prefix != "" && st.Mode&fs.ModeSymlink != 0 && p != "" {
		st.Size = c.readlink(fd, p).N
	}
	return fsfake.Result{Stat: st}
}

func statOf(x *unix.Statx_t) fsfake.Stat {
	ns := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	return fsfake.Stat{
		Ino: x.Ino, Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Nlink: x.Nlink, Mode: modeOf(x.Mode),
		UID: x.Uid, GID: x.Gid, Size: int64(x.Size),
		Atime: ns(x.Atime), Mtime: ns(x.Mtime), Ctime: ns(x.Ctime), Btime: ns(x.Btime),
	}
}

func modeOf(m uint16) fs.FileMode {
	f := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		f |= fs.ModeDir
	case unix.S_IFLNK:
		f |= fs.ModeSymlink
	case unix.S_IFIFO:
		f |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		f |= fs.ModeSocket
	case unix.S_IFREG:
	default:
		f |= fs.ModeIrregular
	}
	for _, b := range [...]struct {
		bit  uint16
		mode fs.FileMode
	}{{unix.S_ISVTX, fs.ModeSticky}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISUID, fs.ModeSetuid}} {
		if m&b.bit != 0 {
			f |= b.mode
		}
	}
	return f
}
