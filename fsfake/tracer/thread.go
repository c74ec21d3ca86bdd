//go:build linux && amd64

package tracer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// A state is what a thread does.
type state uint8

const (
	starting state = iota // it is new; its first stop will come
	running               // in user mode, or in a call that does not wait: a stop will come
	inCall                // in a real call that may wait: a stop comes when it returns
	ready                 // stopped; it may go on when it is its turn
	asking                // stopped before a call that somebody else answers
	napping               // stopped before a sleep
	vforking              // its child has its memory; a stop comes when it gives it back
	waiting               // the leader has ended, others have not
)

func (s state) String() string {
	return [...]string{"starting", "running", "in a call", "ready", "asking", "sleeping", "in vfork", "ended"}[s]
}

// A thread is a thread of the program.
type thread struct {
	r     *Run
	p     *process
	tid   int // real
	n     int // in its process, from 1
	state state
	req   int // how to go on: PTRACE_CONT, or PTRACE_SYSCALL to stop when the call returns
	sig   int // a signal to deliver then

	c      call                // the call that it is in
	op     fsfake.Op           // asking: what
	exit   Exit                // asking: how the process ends
	asks   int                 // how often it has asked in this call
	heard  []fsfake.Result     // the answers in this call so far
	asked  bool                // it has just asked for the working directory
	answer func(fsfake.Result) // asking: what to do with the answer
	after  func(ret int64)     // when the real call has returned
	regs   *unix.PtraceRegs    // registers to restore when the real call has returned
	entry  unix.PtraceRegs     // inCall: the registers when the call was made

	// A wait with a timeout. It ends at deadline on the monotonic clock of the process.
	timed    bool
	deadline int64
	tied     int64  // the deadline that has come with that of another process
	expired  func() // makes the call return because its time has come
	firing   bool   // it has been interrupted for that
	rem      uint64 // napping: where what is left is written

	clears uint64 // where its id becomes 0 when it ends; known of a process's first thread

	polls int // waits for no time since it became its turn

	blocked bool // the last answer was Blocked
	atExit  bool // stands at PTRACE_EVENT_EXIT

	// A call that is let through.
	subst    []substitute  // paths to put in place of its own
	fakeOnly bool          // what is asked is not asked of the kernel: a directory above the virtual one, say
	through  bool          // its answer is to come from the kernel
	parks    bool          // the kernel is asked without waiting
	letting  bool          // it is being made
	itself   bool          // the tracer itself has made what was asked for
	kernel   fsfake.Result // what the kernel has answered
	refused  syscall.Errno // an error that the tracer itself finds in the fake's answer

	// clone(2) in progress.
	child               *thread // whom it has made
	parentTid, childTid uint64  // where the id of the new thread is written
	newPid              int     // the virtual pid that the driver gave; 0 for a thread

	waits int // for which child, as wait4(2) says it

	title, starter string // its name, once it was asked for, and in a JVM that of the thread which has started it

	told bool // its interpreter tells lines of a script: now this one, or none
	line Place

	proc  []int  // descriptors of its files in /proc, when they have been needed
	slept string // how often it had been put on the CPU when it was last seen asleep
}

// A process is a process of the program.
type process struct {
	by          Place   // the line of a script by which its program was executed
	shellScript *string // that its shell carries out: "" for none; nil before somebody has looked

	r        *Run
	real     int
	pid      int // virtual
	parent   *process
	ppid     int // virtual pid of the parent
	name     string
	script   string    // the name of the script that it is about to run, or empty
	stand    bool      // it is the stand-in of a program that only the fake has
	threads  []*thread // living, in order of creation
	created  int       // threads so far
	lender   *thread   // who waits in vfork(2) until this process gives its memory back
	fds      map[int]*descriptor
	cwd      string // the virtual working directory, as it was called when it was entered; or empty
	atDir    bool   // it is surely the virtual directory itself, which nobody can rename
	mono     int64  // CLOCK_MONOTONIC, in nanoseconds, without what it is ahead
	ahead    int64  // by so many nanoseconds its clocks are ahead
	clock    shownClock
	rng      *rand.ChaCha8
	handlers [65]uint64 // flags of sigaction(2)
	pgid     int
	sid      int
	umask    uint32
	exit     Exit
	dying    bool // its end has been answered, or it has been killed
	held     bool // a signal ends it: one thread stands at its exit until that is answered
	gone     bool
	reaped   bool // its parent has waited for it
	adopts   bool // it becomes the parent of what its children leave behind (PR_SET_CHILD_SUBREAPER)
	alarms   []*alarm
	language language
	limited  bool           // it has set the limit of its descriptors, or its parent has
	locks    bool           // it has asked for a lock of a range of its own
	closing  []*description // what an execve(2) closes, until the fake has been told
	looked   bool           // at the time of day, since its last call that was asked, but for those of its start
	ticks    int            // how often it has read the CPU's counter
	heap     bool           // the C library has drawn a number for its heap
	rounds   int            // of sysmon since the last answer
	fresh    bool           // it has been forked, and no call of it has been answered
	born     uint64         // the signals that it blocked then
	ends     *knownEnds     // nil where they are to be found out
}

// A descriptor is what is known of a real descriptor of a process.
type descriptor struct {
	fake    int    // the descriptor of the fake, or -1
	closes  bool   // of one of the fake: the fake closes it at an execve(2)
	path    string // of a file of the fake: where it was opened, without ".."
	atDir   bool   // it is surely the virtual directory itself
	file    *description
	random  bool // /dev/urandom
	procs   bool // /proc itself; file has its listing
	process int  // the pid of a process of another run, of which it is the descriptor; or 0
	kind    kind // of a real one
	// socket is the path of a socket below the virtual directory: its own, where the fake knows it, or that of the
	// one to which it is connected.
	socket string
}

// isFake reports whether it is a descriptor of the fake, which carries out all calls on it.
func (d *descriptor) isFake() bool { return d.known() && d.socket == "" }

// known reports whether the fake has a descriptor for it: also for a socket with a name.
func (d *descriptor) known() bool { return d != nil && d.fake >= 0 }

// A description is what is known of an open file description of the fake; duplicates share it.
type description struct {
	flags int // as F_GETFL tells them
	dir   listing
	fifo  bool // reading it is a [fsfake.CallTake]
	// locks: somebody who has it has asked for a lock of it. early: somebody has closed it by a call that was said to
	// commute, while others had it.
	locks, early bool
	shown        []*mirror
}

// firstMono is what every monotonic clock shows at first: an hour after the machine started.
const firstMono = 3600 * 1e9

// firstUmask is the umask of the root process.
const firstUmask = 0o022

func (r *Run) addProcess(parent *process, real, pid int) *process {
	p := &process{
		r: r, real: real, pid: pid, parent: parent, ppid: r.c.Parent, pgid: pid, sid: pid,
		fds: map[int]*descriptor{}, mono: firstMono, umask: firstUmask, rng: r.randomFor(pid),
	}
	if parent != nil {
		p.ppid, p.name, p.mono, p.ahead, p.clock = parent.pid, parent.name, parent.mono, parent.ahead, parent.clock
		p.ticks, p.by, p.shellScript, p.fresh = parent.ticks, parent.by, parent.shellScript, true
		p.cwd, p.atDir, p.limited, p.heap = parent.cwd, parent.atDir, parent.limited, parent.heap
		p.pgid, p.sid, p.umask, p.handlers = parent.pgid, parent.sid, parent.umask, parent.handlers
		for fd, d := range parent.fds { // order does not matter: a copy
			copied := *d
			p.fds[fd] = &copied
		}
	}
	r.procs = append(r.procs, p)
	r.dog.remember(real)
	return p
}

func (r *Run) randomFor(pid int) *rand.ChaCha8 {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], r.c.Seed)
	binary.LittleEndian.PutUint64(seed[8:], uint64(pid))
	h := fnv.New64a()
	h.Write(seed[:16])
	binary.LittleEndian.PutUint64(seed[16:], h.Sum64())
	return rand.NewChaCha8(seed)
}

func (p *process) random(n int) []byte {
	p.r.draws = true
	return p.unnoticed(n)
}

// unnoticed draws numbers that are none of the program's.
func (p *process) unnoticed(n int) []byte {
	b := make([]byte, n)
	p.rng.Read(b)
	return b
}

func (r *Run) addThread(p *process, tid int) *thread {
	p.created++
	t := &thread{r: r, p: p, tid: tid, n: p.created, state: starting}
	p.threads = append(p.threads, t)
	r.threads[tid] = t
	return t
}

// vtid is the thread id that the program sees. The leader's is the pid; those of others are
// beyond all pids.
func (t *thread) vtid() int {
	if t.n == 1 {
		return t.p.pid
	}
	return 1<<22 + t.p.pid<<10 + t.n
}

// task is who asks. That a signal ends the process no thread of it asks, for each may be in a
// call.
func (t *thread) task() fsfake.Task {
	if t.exit.Signal != 0 {
		return fsfake.Task{Pid: t.p.pid}
	}
	return fsfake.Task{Pid: t.p.pid, N: t.n}
}

// process returns the living process with a virtual pid, or nil.
func (r *Run) process(pid int) *process {
	for _, p := range r.procs {
		if p.pid == pid && !p.gone {
			return p
		}
	}
	return nil
}

// processOf returns the process with a real pid, or nil.
func (r *Run) processOf(real int) *process {
	for i := len(r.procs) - 1; i >= 0; i-- {
		if r.procs[i].real == real {
			return r.procs[i]
		}
	}
	return nil
}

// goOn lets a stopped thread go on when it is its turn.
func (t *thread) goOn(req int) { t.state, t.req = ready, req }

// resume lets it go on now.
func (t *thread) resume() {
	if t.state == ready {
		t.state = running
	}
	sig := t.sig
	t.sig = 0
	t.r.moved = true
	if err := t.showClock(); err != nil && !errors.Is(err, unix.ESRCH) {
		t.fault("%v", err)
	}
	if err := ptrace(t.req, t.tid, 0, uintptr(sig)); err != nil && err != unix.ESRCH {
		t.fault("ptrace: %v", err)
	}
}

// fault ends the run: the thread did what is not handled.
func (t *thread) fault(format string, args ...any) {
	t.end(Error{What: fmt.Sprintf(format, args...)})
}

// unmodelled is fault for what the tracer or the fake does not know, with what to do.
func (t *thread) unmodelled(format string, args ...any) {
	t.end(Error{What: fmt.Sprintf(format, args...) + "; have the program do without it", Unmodelled: true})
}

// end ends the run with the first error.
func (t *thread) end(e Error) {
	if t.r.err == nil {
		e.Program, e.Pid, e.Call = t.p.name, t.p.pid, t.c.String()
		t.r.err = &e
	}
}

// asleep says whether a thread in a call waits for something, and how often it has been given
// the CPU. /proc/T/stat alone does not suffice: a thread that is about to sleep has the state S
// while it still runs, or has been preempted. /proc/T/syscall tells whether it has really gone;
// but it does not tell a thread that sleeps from one that is stopped. One that was seen asleep
// and has not had the CPU since is in the state S unless it was woken, which syscall tells too:
// so stat, which costs as much as the other two, is read once for each time that it sleeps.
func (t *thread) asleep() (waits bool, turns string) {
	if t.proc == nil && !t.look() {
		return false, ""
	}
	inside, turns := t.stays()
	if inside && turns != t.slept {
		before := turns
		if t.letter() != 'S' {
			return false, ""
		}
		if inside, turns = t.stays(); inside && turns == before {
			t.slept = turns
		}
	}
	return inside && turns != "" && turns == t.slept, turns
}

// The files of /proc that asleep reads.
const (
	inSyscall = iota
	inSchedstat
	inStat
)

// look opens them.
func (t *thread) look() bool {
	base := "/proc/" + strconv.Itoa(t.p.real) + "/task/" + strconv.Itoa(t.tid)
	for _, name := range [...]string{inSyscall: "/syscall", inSchedstat: "/schedstat", inStat: "/stat"} {
		fd, err := unix.Open(base+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.forget()
			return false
		}
		t.proc = append(t.proc, fd)
	}
	return true
}

// stays reports whether it is off the CPU, in a call; and how often it was put there.
func (t *thread) stays() (bool, string) {
	var b [256]byte
	if n, err := unix.Pread(t.proc[inSyscall], b[:], 0); err != nil || n == 0 || b[0] == 'r' { // "running"
		return false, ""
	}
	n, _ := unix.Pread(t.proc[inSchedstat], b[:], 0)
	return true, string(b[:max(n, 0)])
}

// letter is its state.
func (t *thread) letter() byte {
	var b [512]byte
	n, _ := unix.Pread(t.proc[inStat], b[:], 0)
	// pid (comm) state …; comm may hold anything, so look for the last parenthesis.
	if i := bytes.LastIndexByte(b[:max(n, 0)], ')'); i >= 0 && i+2 < n {
		return b[i+2]
	}
	return 0
}

// ended reports whether the kernel has done all that the end of a leader does, of which it sends no news while others
// live: it may wake them.
func (t *thread) ended() bool {
	return t.proc == nil && !t.look() || t.letter() == 'Z'
}

func (t *thread) forget() {
	for _, fd := range t.proc {
		unix.Close(fd)
	}
	t.proc, t.slept = nil, ""
}
