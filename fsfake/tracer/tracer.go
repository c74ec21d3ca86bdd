package tracer

import (
	"fmt"
	"time"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer/stack"
)

// A Place is a line of a program's source.
type Place = stack.Place

// Sources are the executables whose debug information has been read. The zero value is ready.
type Sources = stack.Files

// A Config says what to run and what it sees. Argv and Dir are required.
type Config struct {
	// Argv is the command. A name without a slash is looked up in PATH.
	Argv []string
	// Dir is the virtual directory: an absolute path, as the program sees it. It need not
	// exist, and what is there in reality is neither read nor changed.
	Dir string
	// Cwd is the working directory: empty, or an absolute path at or below Dir, which the
	// machine must have. Empty means Work.
	Cwd string
	// Work is the real working directory. Empty means an empty temporary directory that is
	// removed with the run when Cwd is empty, and "/" otherwise.
	Work string
	// Through is a real directory that stands for Dir: calls are made there, one at a time,
	// by [Run.Let], instead of being answered. The program still sees Dir.
	Through string
	// Shared are places outside of Dir that are virtual, too. With Through, the real directory must be called Dir
	// below another one, and this stands for the root.
	Shared []fsfake.Region
	// Known are real files that are virtual under these paths. A directory that is reached by another way, a bind mount
	// say, is the virtual one; another name of a file counts under Protect as one that would be changed.
	Known map[FileID]string
	// Protect ends the run before a call would change, make, remove or lock a real file, by an [Error] that
	// names the file. Devices such as /dev/null can be written to, and not be changed.
	Protect bool
	// Env has entries NAME=VALUE that are added to the fixed environment, or replace its.
	Env []string
	// Stdin is what the program reads from its standard input.
	Stdin string
	// Pid is the root process's virtual pid, Parent its parent's; zero means 100 and 1.
	Pid, Parent int
	// Program says what /proc tells of the program that a process of another run executes. When it is nil, /proc tells
	// its name only, which is "program".
	Program func(pid int) Program
	// Seed is where random numbers come from. Processes with different pids get different ones.
	Seed uint64
	// Now is the time of day at the start; zero is 1 January 2026, as in
	// [fsfake.Options].
	Now time.Time
	// AskTime makes each reading of a clock a [fsfake.CallNow], unless nothing has been answered since the last one;
	// the vDSO is hidden.
	AskTime bool
	// CPU says which of the CPUs that this process may use the program runs on, for drivers that run
	// several side by side: the first is 1, and after the last comes the first again. Zero leaves it to
	// the scheduler, which may put two runs on one.
	CPU int
	// Sources are those that runs share of which [Run.Where] is asked. Nil means the run's own.
	Sources *Sources
	// Lines has the interpreters of scripts tell the line that they carry out, for [Run.Where]. Their environment is
	// another one for that.
	Lines bool
	// Timeout is for how long, in real time, the program may run before it is at rest; time in which it
	// waits for the CPU, on a busy machine, does not count. Zero means 20 s.
	Timeout time.Duration
	// Wrong makes the run wrong on purpose, for tests of what notices it; nil otherwise. With Through it does nothing.
	Wrong *Wrong
}

// A Wrong is what a tracer that has a mistake gets wrong. The functions are functions of their arguments; nil changes
// nothing.
type Wrong struct {
	Asks    func(fsfake.Op) fsfake.Op                    // what is asked in place of what the program asks
	Told    func(fsfake.Op, fsfake.Result) fsfake.Result // what the program is told in place of the answer
	Silent  bool                                         // nobody is told which calls are refused
	Forgets bool                                         // [Run.Memory] never changes
}

// A Program is what comm, cmdline and environ below /proc/PID tell of a process: the name without the newline, and the
// arguments and variables, each with a NUL after it.
type Program struct{ Name, CommandLine, Environment string }

// A FileID tells real files apart, as st_dev and st_ino of stat(2) do.
type FileID struct{ Dev, Ino uint64 }

// Tie is how far two waits may end from each other so that either may be the first: 1 ms, in nanoseconds.
const Tie = int64(1e6)

// A Pending is one call that waits for its answer.
type Pending struct {
	// Task is who asks. N is the number of the thread in its process, from 1 in order of
	// creation; 0 is the process itself: its alarm clock, or its end by a signal.
	Task fsfake.Task
	Op   fsfake.Op
	// Path is Op.Path as an absolute, clean name, when there is one: the directory that it begins
	// at is called as it was when it was entered or opened.
	Path string
	// Clock: the process has looked at the time of day, without asking for it, since a call of it
	// was answered last; what it does before the run's first answer does not count.
	Clock bool
	// Maps: the call reads for a mapping of the file, which is a copy: it will not show what others write later.
	Maps bool
	// Timer: the wait need not end; time passes, or another thread wakes it. When the driver
	// answers, the wait's time has come. Of each process only the soonest is offered.
	Timer bool
	// Deadline is when the wait of a Timer ends, in nanoseconds on the monotonic clock of the run. Due: that of a wait
	// of another process, less than [Tie] earlier, has come since this one began.
	Deadline int64
	Due      bool
	// Blocked: the last answer was Blocked. The driver makes the call again when
	// [fsfake.Machine.Ready] says so.
	Blocked bool
	// Interrupted: a signal has arrived for a blocked call, or one that ends the process for a lock call. The driver
	// ends it by [fsfake.Machine.Interrupt] and answers what that returns.
	Interrupted bool
	// Signalled: a signal has arrived, which may come before the call ([Run.Take]) or after it: one that is caught, for
	// a lock call that may wait, and was not told that it does; or any, for the first call of a process.
	Signalled bool
	// Commutes: the call commutes with all calls that other tasks of the run may make before it. Missed: it shows that
	// one which was said to do so did not.
	Commutes, Missed bool
	// Parent is the pid of the process that has started that of the task, 0 for none. Threads: that has several.
	Parent  int
	Threads bool
	// Kin: the call begins or ends a process, or tells that a child has ended, and commutes so with all calls but those
	// that look at processes.
	Kin bool
	// Exit says how a process ends, when Op is a CallExit.
	Exit Exit
}

// Parks reports whether a call that waits for a lock, or to read a FIFO, waits at its turn when it is let through: it
// is tried without waiting, and again each time that it is let. So a schedule says who gets the lock. That
// is as the kernel has it: whoever waits for such a lock is woken when it is free and tries again, and
// somebody else may have come first (flock_lock_inode_wait and posix_lock_inode_wait in fs/locks.c).
// Record locks of a process are waited for in the kernel, which looks for deadlocks among them.
func Parks(op fsfake.Op) bool {
	if op.Call == fsfake.CallFlock {
		return op.Flags&(fsfake.LOCK_NB|fsfake.LOCK_UN) == 0
	}
	return op.Wait && op.Call.Is(fsfake.OfDescription|fsfake.Changes)
}

// WithoutWait is a call that [Parks] as it is tried at its turn.
func WithoutWait(op fsfake.Op) fsfake.Op {
	if op.Call == fsfake.CallFlock {
		op.Flags |= fsfake.LOCK_NB
	}
	op.Wait = false
	return op
}

// An Exit is how a process ended: by exit(2) with a status, or by a signal.
type Exit struct {
	Status int
	Signal int
}

// String returns "exit 1" or "signal 9".
func (e Exit) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("signal %d", e.Signal)
	}
	return fmt.Sprintf("exit %d", e.Status)
}

// An Error is a fault of a run: the program did what the tracer does not handle, or it did
// not come to rest in time. The run is over and its processes are gone.
type Error struct {
	Program string // the name of the program, as ps shows it
	Pid     int    // virtual
	Call    string // the call as the program made it, or empty
	What    string // what is wrong with it, and what to do
	// Outside is, under [Config.Protect], the real file that the call would have changed: an absolute path
	// without symlinks on the way. Tree: it is a directory that would have been moved or removed.
	Outside string
	Tree    bool
	// Shared is the file of the fake that the program maps so that what it stores there, or others, shows without a
	// call; empty for none.
	Shared string
	// Unmodelled: the call is right, and what it does is not modelled.
	Unmodelled bool
}

func (e *Error) Error() string {
	s := "tracer: "
	if e.Program != "" {
		s += fmt.Sprintf("%s (pid %d): ", e.Program, e.Pid)
	}
	if e.Call != "" {
		s += e.Call + ": "
	}
	return s + e.What
}
