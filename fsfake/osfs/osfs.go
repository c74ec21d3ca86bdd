package osfs

import (
	"io"
	"io/fs"
	"os"
	"time"

	"lockpick/fsfake"
)

// An FS is what a lock protocol asks of the system. The methods are those of package
// os, but where noted.
type FS interface {
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Open(name string) (File, error)
	Create(name string) (File, error)
	CreateTemp(dir, pattern string) (File, error)
	MkdirTemp(dir, pattern string) (string, error)

	ReadFile(name string) ([]byte, error)
	WriteFile(name string, data []byte, perm fs.FileMode) error

	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	SameFile(a, b fs.FileInfo) bool

	Remove(name string) error
	RemoveAll(name string) error
	Rename(oldpath, newpath string) error
	Link(oldname, newname string) error
	Symlink(oldname, newname string) error
	Readlink(name string) (string, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Truncate(name string, size int64) error
	Chmod(name string, mode fs.FileMode) error
	Chown(name string, uid, gid int) error
	Chtimes(name string, atime, mtime time.Time) error

	Getpid() int
	// Kill is syscall.Kill(pid, 0): nil when the process exists, ESRCH when there is none,
	// EPERM when it is somebody else's.
	Kill(pid int) error

	// Now is time.Now.
	Now() time.Time
	// Sleep is time.Sleep.
	Sleep(d time.Duration)
}

// A File is an open file. The methods are those of os.File, but for Flock.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.StringWriter
	io.Seeker
	io.Closer

	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	Sync() error
	Readdirnames(n int) ([]string, error)
	Readdir(n int) ([]fs.FileInfo, error)

	// Flock is flock(2) on the file: LOCK_SH, LOCK_EX or LOCK_UN, with LOCK_NB to be
	// refused with EWOULDBLOCK instead of waiting.
	Flock(how int) error
}

// Operations of [File.Flock].
const (
	LOCK_SH = fsfake.LOCK_SH
	LOCK_EX = fsfake.LOCK_EX
	LOCK_NB = fsfake.LOCK_NB
	LOCK_UN = fsfake.LOCK_UN
)

// Rounds are the rounds of a loop that waits.
type Rounds interface {
	// Next starts a round. It always returns true.
	Next() bool
}

// Retry begins a loop that waits for somebody else, for as long as it takes:
//
//	for r := osfs.Retry(sys); r.Next(); {
//		if err := try(sys); err == nil {
//			return nil
//		}
//		sys.Sleep(50 * time.Millisecond)
//	}
//
// On a real system it does nothing. On a Proc it marks the rounds, as
// [fsfake.Proc.Retry] says: a round must carry nothing over to the next. A loop that
// counts its attempts needs no mark; it ends by itself.
func Retry(sys FS) Rounds {
	if p, ok := sys.(proc); ok {
		return p.Proc.Retry()
	}
	return unmarked{}
}

type unmarked struct{}

func (unmarked) Next() bool { return true }

// On returns the system as the process of p sees it. Like p itself it is for one task
// only.
func On(p *fsfake.Proc) FS { return proc{p} }

// proc is a Proc whose files are Files. What it does not define is the Proc's.
type proc struct{ *fsfake.Proc }

func (p proc) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return wrap(p.Proc.OpenFile(name, flag, perm))
}

func (p proc) Open(name string) (File, error) { return wrap(p.Proc.Open(name)) }

func (p proc) Create(name string) (File, error) { return wrap(p.Proc.Create(name)) }

func (p proc) CreateTemp(dir, pattern string) (File, error) {
	return wrap(p.Proc.CreateTemp(dir, pattern))
}

func (proc) SameFile(a, b fs.FileInfo) bool { return fsfake.SameFile(a, b) }

func wrap(f *fsfake.File, err error) (File, error) {
	if err != nil {
		return nil, err // not a File that holds a nil pointer
	}
	return f, nil
}

// OS returns the real system.
func OS() FS { return real{} }

type real struct{}

func (real) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return open(os.OpenFile(name, flag, perm))
}

func (real) Open(name string) (File, error)   { return open(os.Open(name)) }
func (real) Create(name string) (File, error) { return open(os.Create(name)) }

func (real) CreateTemp(dir, pattern string) (File, error) {
	return open(os.CreateTemp(dir, pattern))
}

func (real) MkdirTemp(dir, pattern string) (string, error) { return os.MkdirTemp(dir, pattern) }

func (real) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

func (real) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(name, data, perm)
}

func (real) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (real) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (real) SameFile(a, b fs.FileInfo) bool               { return os.SameFile(a, b) }
func (real) Remove(name string) error                     { return os.Remove(name) }
func (real) RemoveAll(name string) error                  { return os.RemoveAll(name) }
func (real) Rename(oldpath, newpath string) error         { return os.Rename(oldpath, newpath) }
func (real) Link(oldname, newname string) error           { return os.Link(oldname, newname) }
func (real) Symlink(oldname, newname string) error        { return os.Symlink(oldname, newname) }
func (real) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (real) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (real) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (real) Truncate(name string, size int64) error       { return os.Truncate(name, size) }
func (real) Chmod(name string, mode fs.FileMode) error    { return os.Chmod(name, mode) }

func (real) Chown(name string, uid, gid int) error { return os.Chown(name, uid, gid) }

func (real) Chtimes(name string, atime, mtime time.Time) error {
	return os.Chtimes(name, atime, mtime)
}

func (real) Getpid() int           { return os.Getpid() }
func (real) Kill(pid int) error    { return exists(pid) }
func (real) Now() time.Time        { return time.Now() }
func (real) Sleep(d time.Duration) { time.Sleep(d) }

func open(f *os.File, err error) (File, error) {
	if err != nil {
		return nil, err // not a File that holds a nil pointer
	}
	return realFile{f}, nil
}

// realFile is an os.File with flock(2).
type realFile struct{ *os.File }

// Flock is flock(2), with its bare errno, as on the fake. The file stays in the runtime's care: Fd, which makes it
// blocking, is not called.
func (f realFile) Flock(how int) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	failed := fs.ErrClosed // when Control does not get to call the function
	_ = conn.Control(func(fd uintptr) { failed = flock(int(fd), how) })
	if failed == fs.ErrClosed {
		return &fs.PathError{Op: "flock", Path: f.Name(), Err: failed}
	}
	return failed
}
