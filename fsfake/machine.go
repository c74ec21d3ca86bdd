package fsfake

import (
	"fmt"
	"strings"
	"syscall"
	"time"
)

// A Machine is a disk, the kernel above it, its processes and its clock: a value that
// changes only through its methods, can be cloned at any moment, and has a canonical
// key. Everything it answers is a function of the calls made on it.
//
// A Machine is not for concurrent use, with one exception: once it has been cloned,
// and until it is changed again, any number of goroutines may clone and look at it.
type Machine struct {
	// Objects are shared between clones and copied before their first change; see
	// cow.go. Each slice is sorted by identity.
	inodes []*inode
	descs  []*desc
	procs  []*proc
	marks  []Mark // sorted by task; never changed in place

	own                           *token // marks the objects that only this machine holds
	ownInodes, ownDescs, ownProcs bool   // whether the slices above are this machine's alone
	nextInode                     InodeID
	nextDesc                      descID
	maxPid                        int   // the highest pid ever used
	clock, boot                   int64 // nanoseconds since 1970
	nextIno                       uint64
	turn                          uint64 // the last one given to a wait
	version                       uint64
	umask                         uint32
	policy                        InodePolicy
	powerLoss                     bool // remember what is durable; see powerloss.go
}

// Options says what kind of machine [New] makes. The zero value is a local Linux
// file system with canonical inode numbers, umask 022, on 1 January 2026.
type Options struct {
	// Profile is the file system's semantics.
	Profile Profile
	// InodeNumbers is how inodes get the numbers that programs see.
	InodeNumbers InodePolicy
	// Start is the clock's first value, and when the machine booted.
	Start time.Time
	// Umask is every process's umask; zero means 022. [NoUmask] is none.
	Umask uint32
	// PowerLoss makes the machine remember what is durable, for [Machine.LosePower].
	PowerLoss bool
}

// NoUmask is the [Options.Umask] of processes that mask no permission bit.
const NoUmask = 1 << 31

// A Profile is a family of file-system semantics.
type Profile uint8

// The profiles. Only Posix is modelled; [New] panics for the others.
const (
	Posix   Profile = iota // a local file system under Linux (ext4, tmpfs)
	NFS                    // not modelled yet
	Windows                // not modelled yet
	MacOS                  // not modelled yet
)

// An InodePolicy is how inodes get the numbers that stat(2) shows.
type InodePolicy uint8

// The inode policies.
const (
	// InodesCanonical numbers inodes per process, in the order in which the process
	// first saw them. Programs can compare numbers within a process, which is what
	// they may rely on, and interleavings that differ only in allocation order merge.
	InodesCanonical InodePolicy = iota
	// InodesReuse gives a new inode the lowest number that no inode has, as ext4 and
	// tmpfs may: a number returns as soon as its inode is gone.
	InodesReuse
	// InodesUnique never gives a number twice.
	InodesUnique
)

// New returns a machine with an empty "/" (root's, mode 0755), "/tmp" (sticky, mode
// 1777), and the process 1 ("init", uid 0).
func New(o Options) *Machine {
	if o.Profile != Posix {
		panic(fmt.Sprintf("fsfake: profile %d is not modelled", o.Profile))
	}
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Umask == 0 {
		o.Umask = 0o022
	}
	m := &Machine{
		clock: o.Start.UnixNano(), boot: o.Start.UnixNano(),
		umask: o.Umask & 0o777, policy: o.InodeNumbers,
		nextIno: 2, // the root directory of a Linux file system is inode 2
	}
	root := m.newInode(KindDir, 0o755, 0, 0)
	root.parent, root.nlink = root.id, 2
	tmp := m.newInode(KindDir, 0o1777, 0, 0)
	m.adopt(rootID, tmp.id)
	m.addName(rootID, "tmp", tmp.id)
	m.AddProc(ProcSpec{Pid: 1})
	m.version, m.powerLoss = 0, o.PowerLoss
	return m
}

// Version counts the changes that some other task could observe: of names, contents,
// attributes, locks, processes and cells. A poller that saw nothing it wanted need not
// look again while it stands still. It is not part of the machine's key.
func (m *Machine) Version() uint64 { return m.version }

// Now returns the virtual clock.
func (m *Machine) Now() time.Time { return time.Unix(0, m.clock).UTC() }

// Advance moves the virtual clock; nothing else moves it. A negative d steps it back.
func (m *Machine) Advance(d time.Duration) { m.clock += int64(d) }

func fail(e syscall.Errno) Result { return Result{Errno: e} }

func unmodelled(format string, args ...any) Result {
	return Result{Unmodelled: fmt.Sprintf(format, args...) + " is not modelled"}
}

// Do carries out one system call of task t, atomically.
//
// A call that has to wait answers Blocked. It has begun then: a lock that it converts
// is gone, and the task counts as waiting. The same call made again by the same task
// continues it; [Machine.Ready] says when that has an effect. Who waits longest has
// no precedence.
func (m *Machine) Do(t Task, op Op) Result {
	var r Result
	p := m.proc(t.Pid)
	if p == nil {
		return unmodelled("%s by process %d, which does not run,", op.Call, t.Pid)
	}
	if len(p.waits) != 0 {
		if i := p.waiting(t.N); i >= 0 {
			return m.resume(p, i, &op)
		}
	}
	m.call(p, t, &op, &r)
	return r
}

// call starts a system call. Its answer goes to r, which is zero: a Result is large, and
// most answers are an error number or little more.
func (m *Machine) call(p *proc, t Task, op *Op, r *Result) {
	switch c := op.Call; {
	case c >= CallOpen && c <= CallChown:
		if strings.IndexByte(op.Path, 0) >= 0 || strings.IndexByte(op.Path2, 0) >= 0 {
			r.Errno = syscall.EINVAL // what package syscall says: no such call can be made
			return
		}
		m.callPath(p, op, r)
	case c >= CallRead && c <= CallLinkFD:
		if op.FD >= 0 && op.FD < firstFD {
			*r = unmodelled("%s of a standard stream", c)
			return
		}
		m.callFD(p, t, op, r)
	case c.IsCell():
		*r = m.callCell(p, t, op)
	default:
		*r = m.callProcess(p, t, op)
	}
}

func (m *Machine) callPath(p *proc, op *Op, r *Result) {
	switch op.Call {
	case CallOpen:
		*r = m.open(p, op)
	case CallStat:
		r.Errno = m.stat(p, op, true, &r.Stat)
	case CallLstat:
		r.Errno = m.stat(p, op, false, &r.Stat)
	case CallUnlink:
		r.Errno = m.unlink(p, op.Path)
	case CallRename:
		m.rename(p, op, r)
	case CallLink:
		r.Errno = m.link(p, op.Path, op.Path2)
	case CallSymlink:
		r.Errno = m.symlink(p, op.Path2, op.Path)
	case CallReadlink:
		*r = m.readlink(p, op.Path)
	case CallMkdir:
		r.Errno = m.mkdir(p, op.Path, op.Mode)
	case CallRmdir:
		r.Errno = m.rmdir(p, op.Path)
	case CallTruncate:
		*r = m.truncate(p, op.Path, op.Len)
	case CallUtimes:
		r.Errno = m.utimes(p, op.Path, op.Time, op.Time2)
	case CallChmod:
		r.Errno = m.chmod(p, op.Path, op.Mode)
	default:
		r.Errno = m.chown(p, op.Path, op.Off, op.Len)
	}
}

func (m *Machine) callFD(p *proc, t Task, op *Op, r *Result) {
	if r.Errno = checkArgs(op); r.Errno != 0 {
		return // the kernel looks at these before it looks at the descriptor
	}
	if op.Call == CallFutimes && op.Time == UTIME_OMIT && op.Time2 == UTIME_OMIT {
		return // nor does it look at the descriptor when there is nothing to do
	}
	d := m.descOf(p, op.FD)
	if d == nil {
		r.Errno = syscall.EBADF
		return
	}
	switch op.Call {
	case CallRead:
		*r = m.read(d, op.Len)
	case CallPread:
		*r = m.pread(d, op.Len, op.Off)
	case CallWrite:
		*r = m.write(p, d, op.Data)
	case CallPwrite:
		*r = m.pwrite(p, d, op.Data, op.Off)
	case CallLseek:
		*r = m.lseek(d, op.Off, op.Flags)
	case CallClose:
		m.closeFD(p.pid, op.FD)
	case CallDup:
		*r = m.dup(p, d)
	case CallFstat:
		m.statOf(p, d.inode, op.Flags, &r.Stat)
	case CallFtruncate:
		*r = m.ftruncate(p, d, op.Len)
	case CallFutimes:
		r.Errno = m.setTimes(p, d.inode, op.Time, op.Time2)
	case CallFsync:
		m.fsync(d.inode)
	case CallReaddir:
		*r = m.readdir(d)
	case CallFlock:
		*r = m.flock(p, t, d, op)
	case CallSetlk, CallOFDSetlk:
		*r = m.setlk(p, t, d, op)
	case CallGetlk, CallOFDGetlk:
		*r = m.getlk(p, d, op)
	default:
		r.Errno = m.linkFD(p, d, op.Path2)
	}
}

// checkArgs finds the errors that a call reports even for a bad descriptor.
func checkArgs(op *Op) syscall.Errno {
	switch op.Call {
	case CallPread, CallPwrite:
		if op.Off < 0 {
			return syscall.EINVAL
		}
	case CallFtruncate:
		if op.Len < 0 {
			return syscall.EINVAL
		}
	case CallFlock:
		if flockMode(op.Flags) < 0 {
			return syscall.EINVAL
		}
	case CallLinkFD:
		if strings.IndexByte(op.Path2, 0) >= 0 {
			return syscall.EINVAL
		}
	}
	return 0
}
