package fsfake

import (
	"io/fs"
	"syscall"
	"time"
)

// A Result is what one call answered. Results are comparable.
type Result struct {
	// Errno is 0 on success.
	Errno syscall.Errno
	// N is the call's number: a descriptor, a byte count, an offset, a pid, a time
	// in nanoseconds since 1970, a process start time in clock ticks.
	N int64
	// Blocked: the call has started and waits for a lock or a cell. It has not
	// returned: the task is to make the same call again once [Machine.Ready] says so.
	Blocked bool
	// Data: bytes read, the target of a link, or the names in a directory, sorted
	// and separated by NUL.
	Data string
	// Stat of stat, lstat and fstat; the conflicting lock of F_GETLK is in Lock.
	Stat Stat
	// Lock is what F_GETLK answered.
	Lock RecordLock
	// Value is what a cell held.
	Value any
	// Unmodelled, when not empty, says what the fake does not model. The run ends
	// as a harness error; no program sees such a result.
	Unmodelled string
}

// OK reports whether the call succeeded.
func (r Result) OK() bool { return r.Errno == 0 && !r.Blocked && r.Unmodelled == "" }

// A Stat is what stat(2) and statx(2) tell of a file. Times are nanoseconds since
// 1970 on the machine's virtual clock.
type Stat struct {
	// Ino is the inode number as this process sees it; see [Options.InodeNumbers].
	Ino   uint64
	Dev   uint64
	Nlink uint32
	Mode  fs.FileMode
	UID   uint32
	GID   uint32
	Size  int64
	Atime int64
	Mtime int64
	Ctime int64
	Btime int64
}

// A RecordLock is a byte range as fcntl(2) describes it. Len 0 means to the end of
// the file and beyond. Pid is -1 for an OFD lock.
type RecordLock struct {
	Type  int
	Start int64
	Len   int64
	Pid   int
}

// fileInfo is the fs.FileInfo of a simulated file.
type fileInfo struct {
	name string
	st   Stat
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.st.Size }
func (i fileInfo) Mode() fs.FileMode  { return i.st.Mode }
func (i fileInfo) ModTime() time.Time { return time.Unix(0, i.st.Mtime).UTC() }
func (i fileInfo) IsDir() bool        { return i.st.Mode.IsDir() }

// Sys returns the *[Stat], as os.FileInfo returns the *syscall.Stat_t.
func (i fileInfo) Sys() any { return &i.st }

// SameFile reports whether two FileInfos of this package describe one inode, as
// os.SameFile does for real ones.
func SameFile(a, b fs.FileInfo) bool {
	x, ok1 := a.(fileInfo)
	y, ok2 := b.(fileInfo)
	return ok1 && ok2 && x.st.Ino == y.st.Ino && x.st.Dev == y.st.Dev
}
