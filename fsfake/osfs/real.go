package osfs

import (
	"io/fs"
	"os"
	"time"
)

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
