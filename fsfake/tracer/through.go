//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Calls that are made for real, in a directory that stands for the virtual one: the same stops,
// the same order, and the kernel answers.

// let makes the call that a task has asked for. What the fake answers serves for what the kernel
// cannot know: numbers of descriptors as the fake has them, inode numbers and times.
func (r *Run) let(task fsfake.Task, expected fsfake.Result) (fsfake.Result, error) {
	if r.c.Through == "" {
		return fsfake.Result{}, fmt.Errorf("tracer: calls are let through only with Config.Through")
	}
	t := r.asks(task)
	if t != nil && !t.fakeOnly && t.op.Call == fsfake.CallGetcwd {
		return t.realCwd(), r.answer(task, expected)
	}
	if t == nil || t.fakeOnly || !onFile(t.op.Call) {
		return expected, r.answer(task, expected)
	}
	r.answers++
	t.p.rounds = 0
	f, op := t.answer, t.op
	if t.blocked && expected.Errno == unix.EINTR && t.signalled() {
		return expected, r.answer(task, expected)
	}
	if op.Call == fsfake.CallTake && op.Wait && !t.mayTake() {
		t.blocked = true
		return fsfake.Result{Blocked: true}, nil
	}
	// A record lock is tried where the driver says that it is not granted: no wait for one ends so.
	t.parks = Parks(op) && op.Call.IsLock() || op.Call == fsfake.CallSetlk && op.Wait && expected.Errno == unix.EAGAIN
	t.answer, t.blocked = nil, false
	t.through, t.letting, t.itself, t.kernel, t.refused = true, true, false, fsfake.Result{}, 0
	expected.Blocked, expected.Errno = false, 0
	f(expected)
	t.through = false
	if t.letting && t.state == ready { // the call itself, with its arguments
		t.req = unix.PTRACE_SYSCALL
		t.resume()
	}
	for t.letting && t.state != asking && r.err == nil {
		if waits, _ := t.asleep(); t.state == inCall && waits {
			t.letting, t.blocked = false, true
			return fsfake.Result{Blocked: true}, nil
		}
		r.pause()
		r.late()
	}
	t.letting = false
	if t.state == asking && !t.itself { // a call that takes several: this one was but a look
		return expected, r.err
	}
	if t.kernel.Errno == unix.EWOULDBLOCK && t.parks && r.err == nil {
		if err := t.comeAgain(); err != nil {
			r.err = fmt.Errorf("tracer: a call that waits for a lock does not come again: %w", err)
			return fsfake.Result{}, r.err
		}
		t.state, t.op, t.answer, t.blocked = asking, op, f, true
		return fsfake.Result{Blocked: true}, nil
	}
	return t.inWords(op, expected), r.err
}

// mayTake reports whether a read of a real FIFO need not wait. Nobody else reads or writes it now.
func (t *thread) mayTake() bool {
	fd, err := unix.Open(t.p.inProc(t.c.fd(0)), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return true // the call will say why
	}
	defer unix.Close(fd)
	if n, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil || n > 0 {
		return true
	}
	_, err = unix.Read(fd, make([]byte, 1))
	return err != unix.EAGAIN // but the end, for nobody can write
}

// realCwd is where the process is, as getcwd(2) would say it of the virtual directory.
func (t *thread) realCwd() fsfake.Result {
	at, err := os.Readlink("/proc/" + strconv.Itoa(t.p.real) + "/cwd")
	rest, inside := strings.CutPrefix(at, physical(t.r.c.Through))
	name := t.r.c.Dir + rest
	if !inside && len(t.r.shared) > 0 {
		name, inside = strings.CutPrefix(at, physical(t.r.standsForRoot()))
	}
	if _, removed := strings.CutSuffix(at, " (deleted)"); err != nil || removed || !inside {
		return fsfake.Result{Errno: unix.ENOENT}
	}
	return fsfake.Result{N: int64(len(name)), Data: name}
}

// inWords is what the kernel has answered as the fake would say it. What the program's own call
// does not tell, for it is not quite the op, is as expected.
func (t *thread) inWords(op fsfake.Op, expected fsfake.Result) fsfake.Result {
	res := t.kernel
	switch {
	case res.Errno != 0 && res.Errno == t.refused: // access(2) by the mode that stat(2) shows
		return expected
	case res.Errno == unix.EOPNOTSUPP && t.refused == unix.ENODATA: // an attribute, on other file systems
		return expected
	case res.Errno == unix.ENODEV && t.c.nr == unix.SYS_MMAP: // of a directory, which the fake is asked to read
		return fsfake.Result{Errno: unix.EISDIR}
	case res.Errno != 0:
		return res
	}
	switch {
	case op.Call.Is(fsfake.Reads|fsfake.Writes|fsfake.Moves) || op.Call == fsfake.CallTake:
	case op.Call == fsfake.CallOpen || op.Call == fsfake.CallBind || op.Call.Is(fsfake.Duplicates):
		res.N = expected.N
	case op.Call.Is(fsfake.Stats):
		if res.N = 0; res.Stat.Mode == 0 {
			res.Stat = expected.Stat
		}
	default:
		res.N = 0
	}
	return res
}

// asks returns the thread that has asked as a task, or nil.
func (r *Run) asks(task fsfake.Task) *thread {
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.state == asking && t.task() == task {
				return t
			}
		}
	}
	return nil
}

// really makes the call, with absolute paths in the directory that stands for the virtual one.
// What f finds when it has succeeded goes to t.kernel.
func (t *thread) really(f func(ret int64)) {
	t.through = false
	var b []byte
	info, err := getSyscallInfo(t.tid)
	if err != nil {
		t.pass()
		return
	}
	size := uint64(0)
	for _, s := range t.subst {
		size += uint64(len(s.path)) + 1
	}
	at := (info.sp - 1024 - size) &^ 15
	args := t.c.args
	if t.parks {
		args[1] = withoutWait(t.c.nr, args[1])
	}
	for _, s := range t.subst {
		args[s.arg] = at + uint64(len(b))
		b = append(append(b, s.path...), 0)
	}
	var old []byte
	if len(b) > 0 {
		if old, err = readFull(t.tid, at, len(b)); err == nil {
			err = writeMem(t.tid, at, b)
		}
		if err != nil {
			t.fault("no room for its path on the stack")
			return
		}
	}
	if t.parks || len(b) > 0 {
		t.instead(t.c.nr, args[:]...)
	}
	t.passWaiting(func(ret int64) {
		_ = writeMem(t.tid, at, old)
		if ret >= 0 && f != nil {
			f(ret)
		}
	})
}

// withoutWait is the second argument of a call that waits for a lock, as it is for one that does not.
func withoutWait(nr int, arg uint64) uint64 {
	switch {
	case nr == unix.SYS_FLOCK:
		return arg | unix.LOCK_NB
	case arg == unix.F_SETLKW:
		return unix.F_SETLK
	}
	return unix.F_OFD_SETLK
}

// comeAgain brings a thread that has returned from its call before that call again.
func (t *thread) comeAgain() error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return err
	}
	regs.Rip -= 2 // the call is made again
	regs.Rax, regs.Orig_rax = regs.Orig_rax, ^uint64(0)
	return comeAgain(t.tid, &regs)
}

// A substitute is a path to put in place of one of the program's.
type substitute struct {
	arg  int
	path string
}

// standsFor is the real path of a name below the virtual directory.
func (r *Run) standsFor(name string) string {
	if !below(name, r.c.Dir) && len(r.shared) > 0 {
		return r.standsForRoot() + name
	}
	return r.c.Through + strings.TrimPrefix(name, r.c.Dir)
}

// standsForRoot is the real directory that stands for the root, where places beside the virtual directory are shared.
func (r *Run) standsForRoot() string { return strings.TrimSuffix(r.c.Through, r.c.Dir) }

// came notes what the real call returned.
func (t *thread) came(ret int64) {
	t.letting = false
	if ret < 0 {
		t.kernel.Errno = syscall.Errno(-ret)
		return
	}
	t.kernel.N = ret
}

// statOf reads a struct stat or statx: kind, permissions, links, owner and size.
func (t *thread) statOf(addr uint64) (s fsfake.Stat) {
	le := binary.LittleEndian
	var mode uint32
	if t.c.nr == unix.SYS_STATX {
		b, err := readFull(t.tid, addr, 48)
		if err != nil {
			return s
		}
		s.Nlink, s.UID, s.GID, mode = le.Uint32(b[16:]), le.Uint32(b[20:]), le.Uint32(b[24:]), uint32(le.Uint16(b[28:]))
		s.Size = int64(le.Uint64(b[40:]))
	} else {
		b, err := readFull(t.tid, addr, 56)
		if err != nil {
			return s
		}
		s.Nlink, mode, s.UID, s.GID = uint32(le.Uint64(b[16:])), le.Uint32(b[24:]), le.Uint32(b[28:]), le.Uint32(b[32:])
		s.Size = int64(le.Uint64(b[48:]))
	}
	s.Mode = fs.FileMode(mode & 0o777)
	for _, bit := range []struct {
		is, mask uint32
		has      fs.FileMode
	}{
		{unix.S_IFDIR, unix.S_IFMT, fs.ModeDir}, {unix.S_IFLNK, unix.S_IFMT, fs.ModeSymlink},
		{unix.S_IFIFO, unix.S_IFMT, fs.ModeNamedPipe}, {unix.S_IFSOCK, unix.S_IFMT, fs.ModeSocket},
		{unix.S_ISUID, unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, unix.S_ISVTX, fs.ModeSticky},
	} {
		if mode&bit.mask == bit.is {
			s.Mode |= bit.has
		}
	}
	return s
}

// onFile reports whether the kernel's file system answers a call. Processes, clocks and sleeps
// are virtual also when calls are let through.
func onFile(c fsfake.Call) bool { return c >= fsfake.CallOpen && c <= fsfake.CallLinkFD }
