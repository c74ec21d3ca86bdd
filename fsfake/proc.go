package fsfake

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Port is how a Proc reaches its machine. Whoever drives the Proc implements it:
// a scheduler that suspends the task before each call, a real kernel, or the
// machine itself ([Machine.Proc]).
type Port interface {
	// Do makes one call, and returns when it has returned: never Blocked.
	Do(Op) Result
	// Note hands over a comparable value without taking a step.
	Note(any)
}

// A Proc is one task's view of a machine: its methods are the functions of package
// os, under the same names and with the same signatures, so that porting a
// protocol is renaming os to p. A Proc must only be used by its own task.
type Proc struct {
	port  Port
	pid   int
	task  int
	temp  int // temporary names handed out so far
	loops int // retry loops begun so far
}

// NewProc returns the Proc of task n (from 1) of process pid, whose calls go to port.
func NewProc(port Port, pid, n int) *Proc { return &Proc{port: hosted(port), pid: pid, task: n} }

// Through returns the same task's Proc, whose calls go to what wrap makes of its port.
func (p *Proc) Through(wrap func(Port) Port) *Proc {
	q := *p
	q.port = hosted(wrap(unhosted(p.port)))
	return &q
}

// Getpid returns the process id. It is constant for a process, and so no step.
func (p *Proc) Getpid() int {
	p.port.Note(PidSeen)
	return p.pid
}

// Task returns the task's number in its process, from 1.
func (p *Proc) Task() int { return p.task }

// Note hands v, which must be comparable, to whoever drives the Proc. It is not a
// step and no other task can see it.
func (p *Proc) Note(v any) { p.port.Note(v) }

// Do makes one call given as data, with the fake's constants. The methods are the usual
// way.
func (p *Proc) Do(op Op) Result {
	r := unhosted(p.port).Do(op)
	if r.Stat.Ino != 0 {
		p.Note(InodeSeen)
		p.Note(NumberSeen)
	}
	if _, times := r.Shows(op); times {
		p.Note(TimeSeen)
	}
	return r
}

// pathCall makes a call that answers nothing but an error, which is worded as the
// function of package os with that name words it.
func (p *Proc) pathCall(name string, op Op) error {
	if r := p.port.Do(op); r.Errno != 0 {
		return &fs.PathError{Op: name, Path: op.Path, Err: r.Errno}
	}
	return nil
}

func (p *Proc) linkCall(name, oldname, newname string, op Op) error {
	if r := p.port.Do(op); r.Errno != 0 {
		return &os.LinkError{Op: name, Old: oldname, New: newname, Err: r.Errno}
	}
	return nil
}

// OpenFile is os.OpenFile: one open(2).
func (p *Proc) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	r := p.port.Do(Op{Call: CallOpen, Path: name, Flags: flag | O_CLOEXEC, Mode: modeBits(perm)})
	if r.Errno != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: r.Errno}
	}
	if fifo, _ := r.Value.(FIFO); fifo.Waits {
		p.port.Do(Op{Call: CallOpenFIFO, FD: int(r.N), Wait: true})
	}
	return &File{p: p, fd: int(r.N), name: name, append: flag&os.O_APPEND != 0}, nil
}

// Open is os.Open.
func (p *Proc) Open(name string) (*File, error) { return p.OpenFile(name, os.O_RDONLY, 0) }

// Create is os.Create: O_RDWR|O_CREATE|O_TRUNC.
func (p *Proc) Create(name string) (*File, error) {
	return p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// NewFile is os.NewFile: a File for a descriptor that the process has already, nil when
// fd is negative. Unlike package os it does not ask whether the descriptor has O_APPEND.
func (p *Proc) NewFile(fd int, name string) *File {
	if fd < 0 {
		return nil
	}
	return &File{p: p, fd: fd, name: name}
}

// Stat is os.Stat: one stat(2), which follows symbolic links.
func (p *Proc) Stat(name string) (fs.FileInfo, error) { return p.stat(CallStat, name) }

// Lstat is os.Lstat: one lstat(2).
func (p *Proc) Lstat(name string) (fs.FileInfo, error) { return p.stat(CallLstat, name) }

func (p *Proc) stat(c Call, name string) (fs.FileInfo, error) {
	r := p.port.Do(Op{Call: c, Path: name})
	if r.Errno != 0 {
		return nil, &fs.PathError{Op: c.String(), Path: name, Err: r.Errno}
	}
	return fileInfo{p, path.Base(name), r.Stat}, nil
}

// Unlink is unlink(2): it removes a name that is not a directory's.
func (p *Proc) Unlink(name string) error {
	return p.pathCall("unlink", Op{Call: CallUnlink, Path: name})
}

// Rmdir is rmdir(2): it removes an empty directory.
func (p *Proc) Rmdir(name string) error {
	return p.pathCall("rmdir", Op{Call: CallRmdir, Path: name})
}

// Remove is os.Remove: unlink(2), and when that fails rmdir(2).
func (p *Proc) Remove(name string) error {
	r := p.port.Do(Op{Call: CallUnlink, Path: name})
	if r.Errno == 0 {
		return nil
	}
	r1 := p.port.Do(Op{Call: CallRmdir, Path: name})
	if r1.Errno == 0 {
		return nil
	}
	// As package os does: ENOTDIR of rmdir says less than what unlink said.
	if r1.Errno != syscall.ENOTDIR {
		r = r1
	}
	return &fs.PathError{Op: "remove", Path: name, Err: r.Errno}
}

// Rename is os.Rename: an lstat(2) of newpath, and rename(2). When newpath is a directory
// already it makes no rename(2) and fails with EEXIST, or with what an lstat(2) of oldpath
// says. Programs in most other languages make the rename(2) alone, which is [Proc.Rename2]
// without flags.
func (p *Proc) Rename(oldpath, newpath string) error {
	lstat := func(path string) Result {
		return p.port.Do(Op{Call: CallLstat, Path: path, Flags: LookType | lookDirIno})
	}
	if at := lstat(newpath); at.Errno == 0 && at.Stat.Mode.IsDir() {
		from := lstat(oldpath)
		same := from.Stat.Ino == at.Stat.Ino && from.Stat.Dev == at.Stat.Dev
		switch {
		case from.Errno != 0:
			return &os.LinkError{Op: "rename", Old: oldpath, New: newpath, Err: from.Errno}
		case oldpath == newpath || !same:
			return &os.LinkError{Op: "rename", Old: oldpath, New: newpath, Err: syscall.EEXIST}
		}
	}
	return p.Rename2(oldpath, newpath, 0)
}

// Rename2 is rename(2), or renameat2(2) when there are flags: RENAME_NOREPLACE or
// RENAME_EXCHANGE.
func (p *Proc) Rename2(oldpath, newpath string, flags int) error {
	return p.linkCall("rename", oldpath, newpath, Op{Call: CallRename, Path: oldpath, Path2: newpath, Flags: flags})
}

// Link is os.Link: link(2), which fails with EEXIST when newname exists.
func (p *Proc) Link(oldname, newname string) error {
	return p.linkCall("link", oldname, newname, Op{Call: CallLink, Path: oldname, Path2: newname})
}

// Symlink is os.Symlink.
func (p *Proc) Symlink(oldname, newname string) error {
	return p.linkCall("symlink", oldname, newname, Op{Call: CallSymlink, Path: newname, Path2: oldname})
}

// Readlink is os.Readlink: readlink(2) with room for 128 bytes, and again with twice as
// much while that is not more than the target takes.
func (p *Proc) Readlink(name string) (string, error) {
	for room := 128; ; room *= 2 {
		r := p.port.Do(Op{Call: CallReadlink, Path: name})
		if r.Errno != 0 {
			return "", &fs.PathError{Op: "readlink", Path: name, Err: r.Errno}
		}
		if len(r.Data) < room {
			return r.Data, nil
		}
	}
}

// Mkdir is os.Mkdir: one mkdir(2).
func (p *Proc) Mkdir(name string, perm fs.FileMode) error {
	return p.pathCall("mkdir", Op{Call: CallMkdir, Path: name, Mode: modeBits(perm)})
}

// Chtimes is os.Chtimes: utimensat(2). A zero time leaves the file's as it is.
func (p *Proc) Chtimes(name string, atime, mtime time.Time) error {
	return p.pathCall("chtimes", Op{Call: CallUtimes, Path: name, Time: timeArg(atime), Time2: timeArg(mtime)})
}

// timeArg is a time as utimensat(2) takes it.
func timeArg(t time.Time) int64 {
	if t.IsZero() {
		return UTIME_OMIT
	}
	return t.UnixNano()
}

// Truncate is os.Truncate.
func (p *Proc) Truncate(name string, size int64) error {
	return p.pathCall("truncate", Op{Call: CallTruncate, Path: name, Len: size})
}

// Chmod is os.Chmod.
func (p *Proc) Chmod(name string, mode fs.FileMode) error {
	return p.pathCall("chmod", Op{Call: CallChmod, Path: name, Mode: modeBits(mode)})
}

// Chown is os.Chown; -1 leaves the user or the group as it is.
func (p *Proc) Chown(name string, uid, gid int) error {
	return p.pathCall("chown", Op{Call: CallChown, Path: name, Off: int64(uid), Len: int64(gid)})
}

// Kill is kill(pid, 0): nil when the process exists and may be signalled, ESRCH when
// there is none, EPERM when it belongs to another user. As with syscall.Kill these are the
// bare errnos.
func (p *Proc) Kill(pid int) error {
	if r := p.port.Do(Op{Call: CallKill, Pid: pid}); r.Errno != 0 {
		return r.Errno
	}
	return nil
}

// StartTime reads the start time of a process in clock ticks since boot, as the 22nd
// field of /proc/PID/stat; the error is ENOENT when there is no such process.
func (p *Proc) StartTime(pid int) (int64, error) {
	r := p.port.Do(Op{Call: CallStartTime, Pid: pid})
	if r.Errno != 0 {
		return 0, os.NewSyscallError("starttime", r.Errno)
	}
	return r.N, nil
}

// Procs lists the pids in /proc, in order.
func (p *Proc) Procs() []int {
	var pids []int
	for name := range strings.SplitSeq(p.port.Do(Op{Call: CallProcs}).Data, "\x00") {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Now is time.Now on the machine's virtual clock, as the process has it ([ProcSpec.Skew]). It is a step: the clock may move
// before it.
func (p *Proc) Now() time.Time {
	return time.Unix(0, p.port.Do(Op{Call: CallNow}).N).UTC()
}

// Sleep is time.Sleep: the task gives way. It may go on after any delay; whether that can be before
// the virtual clock has moved by d, [Machine.LetSleepsLast] decides.
func (p *Proc) Sleep(d time.Duration) { p.port.Do(Op{Call: CallSleep, Time: int64(d)}) }

// Work is one visible step that touches no file: the body of a critical section.
func (p *Proc) Work() { p.port.Do(Op{Call: CallWork}) }

// Exit is exit(2): closes every descriptor, drops the kernel locks, and ends the
// process. The task must return after it.
func (p *Proc) Exit() { p.port.Do(Op{Call: CallExit}) }

// ExitWith is Exit with a status, as of a program that refuses or fails. The status is kept
// ([Machine.Exit]): its lowest eight bits, as of exit(2).
func (p *Proc) ExitWith(status int) { p.port.Do(Op{Call: CallEnd, Flags: status & 0xff}) }

func modeBits(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	if m&fs.ModeSticky != 0 {
		b |= 0o1000
	}
	if m&fs.ModeSetgid != 0 {
		b |= 0o2000
	}
	if m&fs.ModeSetuid != 0 {
		b |= 0o4000
	}
	return b
}
