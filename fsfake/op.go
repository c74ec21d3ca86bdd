package fsfake

import "strconv"

// A Call names one system call, or one access to the memory that the tasks of a
// process share. The names are those of the manual pages.
type Call uint8

// The calls that a [Machine] carries out. Each is one step.
const (
	CallNone Call = iota

	// Files by name.
	CallOpen
	CallStat
	CallLstat
	CallUnlink
	CallRename
	CallLink
	CallSymlink
	CallReadlink
	CallMkdir
	CallRmdir
	CallTruncate
	CallUtimes
	CallChmod
	CallChown

	// Files by descriptor.
	CallRead
	CallPread
	CallWrite
	CallPwrite
	CallLseek
	CallClose
	CallDup
	CallFstat
	CallFtruncate
	CallFutimes
	CallFsync
	CallReaddir
	CallFlock
	CallSetlk
	CallGetlk
	CallOFDSetlk
	CallOFDGetlk
	CallLinkFD // linkat(fd, "", …, AT_EMPTY_PATH): gives an O_TMPFILE file its name

	// Processes and time.
	CallKill
	CallStartTime
	CallExit
	CallFork
	CallExec
	CallNow
	CallSleep

	// Memory shared by the tasks of one process (see Cell).
	CallCellLoad
	CallCellStore
	CallCellWait

	// CallWork is one visible step of work that touches no file.
	CallWork

	numCalls
)

var callNames = [numCalls]string{
	CallNone: "none", CallOpen: "open", CallStat: "stat", CallLstat: "lstat",
	CallUnlink: "unlink", CallRename: "rename", CallLink: "link", CallSymlink: "symlink",
	CallReadlink: "readlink", CallMkdir: "mkdir", CallRmdir: "rmdir", CallTruncate: "truncate",
	CallUtimes: "utimes", CallChmod: "chmod", CallChown: "chown", CallRead: "read",
	CallPread: "pread", CallWrite: "write", CallPwrite: "pwrite", CallLseek: "lseek",
	CallClose: "close", CallDup: "dup", CallFstat: "fstat", CallFtruncate: "ftruncate",
	CallFutimes: "futimes", CallFsync: "fsync", CallReaddir: "readdir", CallFlock: "flock",
	CallSetlk: "fcntl-setlk", CallGetlk: "fcntl-getlk", CallOFDSetlk: "ofd-setlk",
	CallOFDGetlk: "ofd-getlk", CallLinkFD: "linkat", CallKill: "kill",
	CallStartTime: "starttime", CallExit: "exit", CallFork: "fork", CallExec: "exec",
	CallNow: "now", CallSleep: "sleep", CallCellLoad: "load", CallCellStore: "store",
	CallCellWait: "wait", CallWork: "work",
}

// String returns the call's name, as the manual pages spell it.
func (c Call) String() string {
	if int(c) < len(callNames) && callNames[c] != "" {
		return callNames[c]
	}
	return "call(" + strconv.Itoa(int(c)) + ")"
}

// IsCell reports whether c touches the memory of the process and nothing else.
func (c Call) IsCell() bool { return c == CallCellLoad || c == CallCellStore || c == CallCellWait }

// isSetlk reports whether c takes or gives up a record lock.
func (c Call) isSetlk() bool { return c == CallSetlk || c == CallOFDSetlk }

// An Op is one system call as data. Ops are comparable: two equal Ops are the
// same request. Fields that a call does not use are zero.
type Op struct {
	Call Call
	// Flags: open(2) flags, flock(2) operation, lseek whence, renameat2 flags,
	// F_RDLCK/F_WRLCK/F_UNLCK for record locks, what stat and fstat are asked for.
	Flags int
	// FD is the descriptor that the call works on.
	FD int
	// Mode: permission bits of open, mkdir and chmod.
	Mode uint32
	// Off and Len: file offset and byte count; the range of a record lock; the
	// length of a truncate; for chown the user and group.
	Off, Len int64
	// Path is the name that the call works on; Path2 the new name of rename and
	// link, and the target of symlink.
	Path, Path2 string
	// Data: the bytes to write.
	Data string
	// Pid: whom kill and starttime ask about.
	Pid int
	// Time and Time2: atime and mtime of utimes in nanoseconds since 1970; Time is
	// also the duration of a sleep in nanoseconds.
	Time, Time2 int64
	// Wait makes a lock call block until it is granted (F_SETLKW).
	Wait bool
	// Cell names a memory cell; Value is what to store in it, or the value that a
	// wait waits to see replaced.
	Cell  string
	Value any
}

// A Task names one thread or async task of a process. Tasks of a process share
// its descriptors and its memory; N counts from 1.
type Task struct {
	Pid int
	N   int
}
