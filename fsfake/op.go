package fsfake

import "strconv"

// A Call names one system call, or one access to the memory that the tasks of a
// process share. What is known of each is a row of the table in calls.go; what has no row
// there is not modelled.
type Call uint8

// row returns the call's row, which is empty for what is no call.
func (c Call) row() *row {
	if c < numCalls && calls[c] != nil {
		return calls[c]
	}
	return noRow
}

var noRow = new(row)

// Calls lists every call that a [Machine] carries out, in a fixed order.
func Calls() []Call {
	var all []Call
	for c := CallNone + 1; c < numCalls; c++ {
		if c.row().do != nil {
			all = append(all, c)
		}
	}
	return all
}

// String returns the call's name, as the manual pages spell it.
func (c Call) String() string {
	if c == CallNone {
		return "none"
	}
	if name := c.row().name; name != "" {
		return name
	}
	return "call(" + strconv.Itoa(int(c)) + ")"
}

// Group says what the call is about.
func (c Call) Group() Group { return c.row().group }

// IsCell reports whether c touches the memory of the process and nothing else.
func (c Call) IsCell() bool { return c.Group() == Memory }

// Ends reports whether the call is the exit of its process.
func (c Call) Ends() bool { return c.Is(Ends) }

// IsLock reports whether c takes or gives back a lock of the kernel.
func (c Call) IsLock() bool { return c.Is(Locks) }

// Changes reports whether the call, where it succeeds, changes names, contents, times or modes of files. An open may
// do so as well, by its flags: see [O_CREAT] and [O_TRUNC].
func (c Call) Changes() bool { return c.Is(Changes) }

// ShowsPid reports whether the call shows a pid to somebody: to the caller, as kill(2)
// does, or to whoever looks later, as a POSIX record lock does. A search that treats
// processes as interchangeable must not meet one.
func (c Call) ShowsPid() bool { return c.row().showsPid }

// Contends reports whether the answer to a call of this kind says that somebody else's lock
// was met: the name exists, the lock is held. A call that is blocked has always met one.
func (c Call) Contends(r *Result) bool {
	if r.Blocked {
		return true
	}
	contends := c.row().contends
	return contends != nil && contends(r)
}

// MayBlock reports whether the call may answer Blocked.
func (o *Op) MayBlock() bool {
	mayBlock := o.Call.row().mayBlock
	return mayBlock != nil && mayBlock(o)
}

// Viewed reports whether the call hangs on what [Viewed] says and on nothing else: it is no choice, and sends no
// signal.
func (o *Op) Viewed() bool {
	return o.Call.Is(Viewed) && o.Ways() == 1 && (o.Call != CallKill || o.Flags == 0)
}

// A Group is what calls are about.
type Group uint8

// The groups of calls.
const (
	ByName    Group = iota + 1 // files by name: the call resolves Path
	ByFD                       // files by descriptor: the call works on FD
	Processes                  // processes and time
	Memory                     // the cells that the tasks of a process share
)

// isSetlk reports whether c takes or gives up a record lock.
func (c Call) isSetlk() bool { return c.Is(Locks) && c.Is(Records) }

// An Op is one system call as data. Ops are comparable: two equal Ops are the
// same request. Fields that a call does not use must be zero: see [Call.Uses].
type Op struct {
	Call Call
	// Wait makes a lock call block until it is granted (F_SETLKW).
	Wait bool
	// Flags: open(2) flags, also of dup, dup3 and F_SETFL, FD_CLOEXEC of F_SETFD, flock(2)
	// operation, lseek whence, renameat2 flags, F_RDLCK/F_WRLCK/F_UNLCK for record locks,
	// what stat and fstat are asked for.
	Flags int
	// FD is the descriptor that the call works on; FD2 the one that dup2 and dup3 are to
	// replace, and the lowest that will do for dup.
	FD, FD2 int
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
	// Cell names a memory cell; Value is what to store in it, the value that a
	// wait waits to see replaced, or the [Swap] of a compare-and-swap.
	Cell  string
	Value any
}

// An Operand is a field of an Op, or a set of them.
type Operand uint32

// The operands.
const (
	OperandFlags Operand = 1 << iota
	OperandFD
	OperandMode
	OperandOff
	OperandLen
	OperandPath
	OperandPath2
	OperandData
	OperandPid
	OperandTime
	OperandTime2
	OperandWait
	OperandCell
	OperandValue
	OperandFD2
)

// operandNames are the fields of an Op in the order of their bits.
var operandNames = [...]string{
	"Flags", "FD", "Mode", "Off", "Len", "Path", "Path2", "Data", "Pid", "Time", "Time2", "Wait", "Cell", "Value", "FD2",
}

// String lists the fields: "Off Len".
func (o Operand) String() string {
	s := ""
	for i, name := range operandNames {
		if o&(1<<i) != 0 {
			s += " " + name
		}
	}
	return s[min(1, len(s)):]
}

// operands returns the set of fields that are not zero. It is on the way of every call, and
// so without a branch.
func (o *Op) operands() Operand {
	return bitOf(o.Flags != 0, 0) | bitOf(o.FD != 0, 1) | bitOf(o.Mode != 0, 2) | bitOf(o.Off != 0, 3) |
		bitOf(o.Len != 0, 4) | bitOf(o.Path != "", 5) | bitOf(o.Path2 != "", 6) | bitOf(o.Data != "", 7) |
		bitOf(o.Pid != 0, 8) | bitOf(o.Time != 0, 9) | bitOf(o.Time2 != 0, 10) | bitOf(o.Wait, 11) |
		bitOf(o.Cell != "", 12) | bitOf(o.Value != nil, 13) | bitOf(o.FD2 != 0, 14)
}

func bitOf(on bool, at int) Operand {
	var b Operand
	if on {
		b = 1
	}
	return b << at
}

// A Task names one thread or async task of a process. Tasks of a process share
// its descriptors and its memory; N counts from 1.
type Task struct {
	Pid int
	N   int
}
