package osfs

import (
	"io"
	"io/fs"
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
