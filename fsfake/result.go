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
	// in nanoseconds since 1970, a process start time in clock ticks, 1 when a
	// compare-and-swap has swapped.
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
	// Value is what a cell held. Of a listing with [LookIno] it is a string, the inode numbers of ".", ".." and the
	// names, separated by blanks; 0 for what is beyond the border.
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

// Shows reports whether r tells the program that asked op an inode number, and whether it
// tells a file time. What numbers and times come is the file system's, so whether a verdict
// depends on it. Whether the program looks at them is known of Go programs only:
// [InodeSeen], [TimeSeen].
func (r Result) Shows(op Op) (inode, times bool) {
	all := op.Call.Is(Stats) && r.OK() && op.Flags == 0
	return all || op.Call == CallReaddir && r.OK() && op.Flags&LookIno != 0, all
}

// A Seen is noted when a task looks at what is not its own doing, or when not all that a program may do is followed.
// Each bit is noted by itself.
type Seen uint16

const (
	// PidSeen: a task asks for its own pid. From then on its behaviour may depend on the number.
	PidSeen Seen = 1 << iota
	// InodeSeen: a task looks at an inode number: it compares two FileInfos, or asks one for its [Stat].
	InodeSeen
	// NumberSeen: a task gets hold of an inode number itself, and may do more with it than compare it: it asks
	// a FileInfo for its [Stat], or makes a call by [Proc.Do].
	NumberSeen
	// TimeSeen: a task looks at a file time: it asks a FileInfo for its ModTime or its [Stat].
	TimeSeen
	// SizeSeen: a task asks a FileInfo for its size. Link counts are seen by Sys only.
	SizeSeen
	// SeenOfPrograms is the first bit of those that package scenarios defines, for real programs.
	SeenOfPrograms
)

// Has reports whether one of the bits is set.
func (s Seen) Has(bits Seen) bool { return s&bits != 0 }

// fileInfo is the fs.FileInfo of a simulated file, as a task sees it.
type fileInfo struct {
	p    *Proc
	name string
	st   Stat
}

func (i fileInfo) Name() string      { return i.name }
func (i fileInfo) Mode() fs.FileMode { return i.st.Mode }
func (i fileInfo) IsDir() bool       { return i.st.Mode.IsDir() }

func (i fileInfo) Size() int64 {
	i.p.Note(SizeSeen)
	return i.st.Size
}

func (i fileInfo) ModTime() time.Time {
	i.p.Note(TimeSeen)
	return time.Unix(0, i.st.Mtime).UTC()
}

// Sys returns the *[Stat], as os.FileInfo returns the *syscall.Stat_t.
func (i fileInfo) Sys() any {
	i.p.Note(InodeSeen)
	i.p.Note(NumberSeen)
	i.p.Note(TimeSeen)
	return &i.st
}

// SameFile reports whether two FileInfos of this package describe one inode, as
// os.SameFile does for real ones.
func SameFile(a, b fs.FileInfo) bool {
	x, ok1 := a.(fileInfo)
	y, ok2 := b.(fileInfo)
	if !ok1 || !ok2 {
		return false
	}
	x.p.Note(InodeSeen)
	return x.st.Ino == y.st.Ino && x.st.Dev == y.st.Dev
}
