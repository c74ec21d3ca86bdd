package fsfake

import (
	"errors"
	"io"
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
func NewProc(port Port, pid, n int) *Proc { return &Proc{port: port, pid: pid, task: n} }

// Getpid returns the process id. It is constant for a process, and so no step.
func (p *Proc) Getpid() int {
	p.port.Note(PidSeen{})
	return p.pid
}

// Task returns the task's number in its process, from 1.
func (p *Proc) Task() int { return p.task }

// PidSeen is noted when a task asks for its own pid: from then on its behaviour may
// depend on the number.
type PidSeen struct{}

// Note hands v, which must be comparable, to whoever drives the Proc. It is not a
// step and no other task can see it.
func (p *Proc) Note(v any) { p.port.Note(v) }

// Do makes one call given as data. The methods are the usual way.
func (p *Proc) Do(op Op) Result { return p.port.Do(op) }

func (p *Proc) pathOp(op Op) error {
	if r := p.port.Do(op); r.Errno != 0 {
		return &fs.PathError{Op: op.Call.String(), Path: op.Path, Err: r.Errno}
	}
	return nil
}

func (p *Proc) linkOp(op Op) error {
	if r := p.port.Do(op); r.Errno != 0 {
		return &os.LinkError{Op: op.Call.String(), Old: op.Path, New: op.Path2, Err: r.Errno}
	}
	return nil
}

// OpenFile is os.OpenFile: one open(2).
func (p *Proc) OpenFile(name string, flag int, perm fs.FileMode) (*File, error) {
	r := p.port.Do(Op{Call: CallOpen, Path: name, Flags: flag | O_CLOEXEC, Mode: modeBits(perm)})
	if r.Errno != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: r.Errno}
	}
	return &File{p: p, fd: int(r.N), name: name}, nil
}

// Open is os.Open.
func (p *Proc) Open(name string) (*File, error) { return p.OpenFile(name, os.O_RDONLY, 0) }

// Create is os.Create: O_RDWR|O_CREATE|O_TRUNC.
func (p *Proc) Create(name string) (*File, error) {
	return p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// NewFile is os.NewFile: a File for a descriptor that the process has already.
func (p *Proc) NewFile(fd int, name string) *File { return &File{p: p, fd: fd, name: name} }

// Stat is os.Stat: one stat(2), which follows symbolic links.
func (p *Proc) Stat(name string) (fs.FileInfo, error) { return p.stat(CallStat, name) }

// Lstat is os.Lstat: one lstat(2).
func (p *Proc) Lstat(name string) (fs.FileInfo, error) { return p.stat(CallLstat, name) }

func (p *Proc) stat(c Call, name string) (fs.FileInfo, error) {
	r := p.port.Do(Op{Call: c, Path: name})
	if r.Errno != 0 {
		return nil, &fs.PathError{Op: c.String(), Path: name, Err: r.Errno}
	}
	return fileInfo{path.Base(name), r.Stat}, nil
}

// Unlink is unlink(2): it removes a name that is not a directory's.
func (p *Proc) Unlink(name string) error { return p.pathOp(Op{Call: CallUnlink, Path: name}) }

// Rmdir is rmdir(2): it removes an empty directory.
func (p *Proc) Rmdir(name string) error { return p.pathOp(Op{Call: CallRmdir, Path: name}) }

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

// Rename is rename(2). (os.Rename looks with lstat first, only to word an error; the
// fake does not, so that a rename is one step, as in every other language.)
func (p *Proc) Rename(oldpath, newpath string) error { return p.Rename2(oldpath, newpath, 0) }

// Rename2 is renameat2(2) with RENAME_NOREPLACE or RENAME_EXCHANGE.
func (p *Proc) Rename2(oldpath, newpath string, flags int) error {
	return p.linkOp(Op{Call: CallRename, Path: oldpath, Path2: newpath, Flags: flags})
}

// Link is os.Link: link(2), which fails with EEXIST when newname exists.
func (p *Proc) Link(oldname, newname string) error {
	return p.linkOp(Op{Call: CallLink, Path: oldname, Path2: newname})
}

// Symlink is os.Symlink.
func (p *Proc) Symlink(oldname, newname string) error {
	r := p.port.Do(Op{Call: CallSymlink, Path: newname, Path2: oldname})
	if r.Errno != 0 {
		return &os.LinkError{Op: "symlink", Old: oldname, New: newname, Err: r.Errno}
	}
	return nil
}

// Readlink is os.Readlink.
func (p *Proc) Readlink(name string) (string, error) {
	r := p.port.Do(Op{Call: CallReadlink, Path: name})
	if r.Errno != 0 {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: r.Errno}
	}
	return r.Data, nil
}

// Mkdir is os.Mkdir: one mkdir(2).
func (p *Proc) Mkdir(name string, perm fs.FileMode) error {
	return p.pathOp(Op{Call: CallMkdir, Path: name, Mode: modeBits(perm)})
}

// MkdirAll is os.MkdirAll: a stat(2), and only when that fails the same for the
// parent and a mkdir(2); after a failed mkdir an lstat(2).
func (p *Proc) MkdirAll(name string, perm fs.FileMode) error {
	r := p.port.Do(Op{Call: CallStat, Path: name})
	if r.Errno == 0 {
		if r.Stat.Mode.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	trimmed := strings.TrimRight(name, "/")
	if i := strings.LastIndexByte(trimmed, '/'); i > 0 {
		if err := p.MkdirAll(strings.TrimRight(trimmed[:i], "/"), perm); err != nil {
			return err
		}
	}
	err := p.Mkdir(name, perm)
	if err != nil {
		if l := p.port.Do(Op{Call: CallLstat, Path: name}); l.Errno == 0 && l.Stat.Mode.IsDir() {
			return nil
		}
	}
	return err
}

// ReadDir is os.ReadDir: open, readdir, close; the entries are sorted by name.
func (p *Proc) ReadDir(name string) ([]string, error) {
	f, err := p.OpenFile(name, os.O_RDONLY|O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames()
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return names, err
}

// ReadFile is os.ReadFile: open, fstat, reads until one returns 0 bytes, close.
func (p *Proc) ReadFile(name string) ([]byte, error) {
	f, err := p.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const chunk = 512 // what os.ReadFile asks for at the least
	size := int64(0)
	if st, err := f.Stat(); err == nil {
		size = st.Size()
	}
	buf := make([]byte, max(size+1, chunk))
	n := 0
	for {
		m, err := f.Read(buf[n:])
		n += m
		if errors.Is(err, io.EOF) {
			return buf[:n], nil
		}
		if err != nil {
			return buf[:n], err
		}
		if n == len(buf) {
			buf = append(buf, make([]byte, chunk)...)
		}
	}
}

// WriteFile is os.WriteFile: open with O_CREATE|O_TRUNC, write, close.
func (p *Proc) WriteFile(name string, data []byte, perm fs.FileMode) error {
	f, err := p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); cerr != nil && err == nil {
		err = cerr
	}
	return err
}

// CreateTemp is os.CreateTemp: open with O_EXCL under a new name, again while the
// name exists. The name holds the pid, the task and a count where the real one holds
// random digits, so that it is a function of the task's own past.
func (p *Proc) CreateTemp(dir, pattern string) (*File, error) {
	if dir == "" {
		dir = "/tmp"
	}
	prefix, suffix, _ := strings.Cut(pattern, "*")
	p.port.Note(PidSeen{})
	for try := 0; ; try++ {
		p.temp++
		name := path.Join(dir, prefix+strconv.Itoa(p.pid)+"-"+strconv.Itoa(p.task)+"-"+strconv.Itoa(p.temp)+suffix)
		f, err := p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && try < 10000 {
			continue
		}
		return f, err
	}
}

// Chtimes is os.Chtimes: utimensat(2).
func (p *Proc) Chtimes(name string, atime, mtime time.Time) error {
	return p.pathOp(Op{Call: CallUtimes, Path: name, Time: atime.UnixNano(), Time2: mtime.UnixNano()})
}

// Truncate is os.Truncate.
func (p *Proc) Truncate(name string, size int64) error {
	return p.pathOp(Op{Call: CallTruncate, Path: name, Len: size})
}

// Chmod is os.Chmod.
func (p *Proc) Chmod(name string, mode fs.FileMode) error {
	return p.pathOp(Op{Call: CallChmod, Path: name, Mode: modeBits(mode)})
}

// Kill is kill(pid, 0): nil when the process exists and may be signalled, ESRCH when
// there is none, EPERM when it belongs to another user.
func (p *Proc) Kill(pid int) error {
	if r := p.port.Do(Op{Call: CallKill, Pid: pid}); r.Errno != 0 {
		return os.NewSyscallError("kill", r.Errno)
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

// Now is time.Now on the machine's virtual clock. It is a step: the clock may move
// before it.
func (p *Proc) Now() time.Time {
	return time.Unix(0, p.port.Do(Op{Call: CallNow}).N).UTC()
}

// Sleep is time.Sleep: the task gives way. It may go on after any delay, so also
// before the virtual clock has moved.
func (p *Proc) Sleep(d time.Duration) { p.port.Do(Op{Call: CallSleep, Time: int64(d)}) }

// Work is one visible step that touches no file: the body of a critical section.
func (p *Proc) Work() { p.port.Do(Op{Call: CallWork}) }

// Exit is exit(2): closes every descriptor, drops the kernel locks, and ends the
// process. The task must return after it.
func (p *Proc) Exit() { p.port.Do(Op{Call: CallExit}) }

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
