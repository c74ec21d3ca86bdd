//go:build linux && amd64

package tracer

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/internal/tempdir"
)

// A Run is one execution of a program and of the processes that it starts. Its methods are for
// one goroutine at a time. A Run that is no longer wanted must be stopped.
type Run struct {
	c    Config
	do   chan func() // work for the thread that owns the processes
	over chan struct{}
	mu   sync.Mutex // one method at a time

	stopped bool
	cloned  bool // it is a snapshot

	// All below belongs to that thread, but for the watchdog's part.
	threads  map[int]*thread // by real id
	procs    []*process      // in order of creation
	early    map[int]bool    // children whose first stop came before their parent's news
	cur      *thread         // the one that goes on until it rests
	moved    bool            // something has run since the last rest
	err      error
	now      int64 // the time of day, in nanoseconds since 1970
	nowIs    int   // count of answers when now was learned, if nowKnown
	nowKnown bool
	answers  int
	calls    int                       // that were looked at
	dir      string                    // Dir, as it is without symlinks of the real file system
	shared   map[string]*fsfake.Region // by path
	// plain are real names on the way to others that are no symlinks, since the program last changed a name.
	plain map[string]bool
	// leads is where real names lead, since then.
	leads map[pathName]place
	out   capture
	// outside are files outside of the virtual directory that were changed or locked.
	outside map[string]bool
	pipes   pipes    // that were looked at
	refused []string // calls that were refused because they are not modelled, and how
	unlike  []string // those of them that every kernel makes
	execs   []string // see Executed
	draws   bool     // see Draws
	renamed bool     // see Renamed
	looks   int      // see Looks
	apart   *bool    // see Apart; nil where that is to be found out
	tied    bool     // for good
	peeks   bool     // a process has looked at pipes without waiting
	eofs    bool     // an end was said to commute with the calls of who reads a pipe
	peeked  bool     // and then one has looked so
	temp    tempdir.Dir
	mirrors []*mirror
	cpu     unix.CPUSet
	mask    uint64 // of a clone: the signals that it blocks
	dog     watchdog
	sums    *summer // see sum
}

var errForeignProc = errors.New("tracer: /proc is not mounted, or shows another pid namespace than this one: " +
	"mount it here, as bwrap --proc /proc and unshare --mount-proc do")

var errOver = errors.New("tracer: the run is over; start another one")

// Start starts a program, which goes on to what it asks first while the caller does something else. The
// error says what is wrong with the configuration, or that ptrace(2) or seccomp(2) is not available here.
func Start(c Config) (*Run, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if self, _ := os.Readlink("/proc/self"); self != strconv.Itoa(os.Getpid()) {
		return nil, errForeignProc
	}
	r := newRun(c)
	r.now, r.dir = c.Now.UnixNano(), physical(c.Dir)
	return r.begin(r.launch)
}

func newRun(c Config) *Run {
	r := &Run{c: c, shared: map[string]*fsfake.Region{}, do: make(chan func()), over: make(chan struct{}),
		threads: map[int]*thread{}, early: map[int]bool{}, plain: map[string]bool{},
		leads: map[pathName]place{}, pipes: pipes{}}
	for i := range c.Shared {
		r.shared[c.Shared[i].Path] = &c.Shared[i]
	}
	return r
}

// begin makes a thread for the run, on which its processes are started.
func (r *Run) begin(start func() error) (*Run, error) {
	started := make(chan error)
	onThreadOfItsOwn(func() { r.own(start, started) })
	if err := <-started; err != nil {
		r.Stop()
		return nil, err
	}
	go r.watch()
	return r, nil
}

func (c *Config) check() error {
	switch {
	case len(c.Argv) == 0 || c.Argv[0] == "":
		return errors.New("tracer: no command: Argv is empty")
	case !path.IsAbs(c.Dir) || path.Clean(c.Dir) != c.Dir || c.Dir == "/":
		return errors.New("tracer: the virtual directory must be an absolute path, clean, and not the root: " + c.Dir)
	case c.Cwd != "" && !below(c.Cwd, c.Dir):
		return errors.New("tracer: the working directory " + c.Cwd + " is not in the virtual directory " + c.Dir + "; a real one goes in Work")
	case c.Through != "" && !filepath.IsAbs(c.Through):
		return errors.New("tracer: the directory that stands for the virtual one must be an absolute path: " + c.Through)
	case c.Work != "" && !filepath.IsAbs(c.Work):
		return errors.New("tracer: the real working directory must be an absolute path: " + c.Work)
	}
	if c.Pid == 0 {
		c.Pid = 100
	}
	if c.Parent == 0 {
		c.Parent = 1
	}
	if c.Now.IsZero() {
		c.Now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if c.Sources == nil {
		c.Sources = &Sources{}
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Second
	}
	return nil
}

// below reports whether a clean path is dir or in it.
func below(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, dir+"/")
}

// physical resolves the symlinks of as much of a path as exists.
func physical(name string) string {
	for dir, rest := name, ""; ; {
		if p, err := filepath.EvalSymlinks(dir); err == nil {
			return path.Join(p, rest)
		}
		rest = path.Join(path.Base(dir), rest)
		dir = path.Dir(dir)
	}
}

// own is the thread that all processes of the run belong to. It is never unlocked: the thread
// ends with it, for its affinity and personality are not those of others.
//
// The program goes to its first rest at once: whoever has started several runs lets them do that side
// by side.
func (r *Run) own(start func() error, started chan<- error) {
	r.mu.Lock()
	r.dog.owner.Store(int64(unix.Gettid()))
	err := start()
	started <- err
	if err == nil {
		r.rest()
	}
	r.mu.Unlock()
	for f := range r.do {
		f()
	}
	r.end()
	close(r.over)
}

// on runs f on the owning thread, unless the run is over.
func (r *Run) on(f func()) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return errOver
	}
	done := make(chan struct{})
	r.do <- func() {
		defer close(done)
		f()
	}
	<-done
	return nil
}

// Next lets the program run until every thread of every process has asked, waits for another
// one, or is gone, and returns what they ask: in order of the process, then of what is asked.
// The set is empty when the program and all its children have ended. That all wait for each
// other, or for the outside, is an [Error].
func (r *Run) Next() (set []Pending, err error) {
	over := r.on(func() { set, err = r.goOn(func() error { return nil }) })
	return set, errors.Join(err, over)
}

// AnswerNext is [Run.Answer] and then, unless that is an error, [Run.Next]. It takes less time than both.
func (r *Run) AnswerNext(t fsfake.Task, res fsfake.Result) (set []Pending, err error) {
	over := r.on(func() { set, err = r.goOn(func() error { return r.answer(t, res) }) })
	return set, errors.Join(err, over)
}

// goOn lets the program go on to what it asks next, when it has been answered.
func (r *Run) goOn(answer func() error) (set []Pending, err error) {
	if r.cloned && r.err == nil {
		r.err = errSnapshot
	}
	if r.err == nil {
		err = answer()
	}
	if r.err == nil && err == nil {
		r.rest()
	}
	if r.err == nil && err == nil {
		set, err = r.pending()
	}
	if r.err != nil {
		r.killAll()
		return nil, r.err
	}
	return set, err
}

// rest lets the program run until it is at rest.
func (r *Run) rest() {
	r.dog.deadline.Store(time.Now().Add(r.c.Timeout).UnixNano())
	for r.settle(); r.err == nil && r.ticks(); r.settle() {
	}
	r.dog.deadline.Store(0)
}

// Answer answers the call of one task; it goes on with the next call of Next. An answer that
// says Blocked leaves the call in the set. It is an error to answer what was not asked, or with
// what is not modelled.
func (r *Run) Answer(t fsfake.Task, res fsfake.Result) (err error) {
	over := r.on(func() {
		if r.cloned && r.err == nil {
			r.err = errSnapshot
		}
		if r.err == nil {
			err = r.answer(t, res)
		}
		if r.err != nil {
			r.killAll()
			err = r.err
		}
	})
	return errors.Join(err, over)
}

// Let makes the call of one task for real, in the directory [Config.Through], and returns what
// the kernel answered, in the fake's words: the number of a new descriptor, inode numbers and
// times are those of expected, the fake's answer to the same call. Blocked means that the call
// waits: in the kernel, from which it returns by itself, and stays in the set until then; or, where
// [Parks] says so, until it is let again, and gets what it waits for. A call that is
// not one of the file system's is answered with expected.
func (r *Run) Let(t fsfake.Task, expected fsfake.Result) (res fsfake.Result, err error) {
	over := r.on(func() {
		if r.err == nil {
			res, err = r.let(t, expected)
		}
		if r.err != nil {
			r.killAll()
			err = r.err
		}
	})
	return res, errors.Join(err, over)
}

// Pass lets time pass: the time of day and the monotonic clocks of all processes move by d. What waits for a time that
// has come then is as before: its end is offered. Of several processes no wait ends in place of another one.
func (r *Run) Pass(d time.Duration) {
	_ = r.on(func() {
		r.now += int64(d)
		for _, p := range r.procs {
			p.mono += int64(d)
			if len(r.procs) > 1 {
				p.postpone(int64(d))
			}
		}
	})
}

// Kill ends processes as kill -9 does, at rest. The driver tells the machine itself, by
// [fsfake.Machine.KillProc].
func (r *Run) Kill(pids ...int) (err error) {
	over := r.on(func() {
		for _, pid := range pids {
			err = errors.Join(err, r.kill(pid))
		}
	})
	return errors.Join(err, over)
}

// Living lists the pids of the processes that have not ended.
func (r *Run) Living() []int {
	return looked(r, func() (pids []int) {
		for _, p := range r.procs {
			if !p.gone {
				pids = append(pids, p.pid)
			}
		}
		return pids
	})
}

// Stop ends every process of the run and removes its files. It may be called at any time, from
// any goroutine, and more than once.
func (r *Run) Stop() {
	r.dog.stop.Store(true)
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped = true
		close(r.do)
		<-r.over
	}
}

// Executed lists the real files of the programs that were executed, each once.
func (r *Run) Executed() []string { return looked(r, func() []string { return slices.Clone(r.execs) }) }

// Draws reports whether the program has drawn random numbers, but for the one with which a C library guards the heap of
// each program that is executed. See also [MayDraw].
func (r *Run) Draws() bool { return looked(r, func() bool { return r.draws }) }

func (r *Run) executed(file string) {
	if !slices.Contains(r.execs, file) {
		r.execs = append(r.execs, file)
	}
}

// Refused lists the calls that are not modelled, and were answered as by a kernel or a file system that cannot do
// them, each once: programs often have another way.
func (r *Run) Refused() []string {
	return looked(r, func() []string { return slices.Clone(r.refused) })
}

// Unlike lists those of the refused calls that no kernel and no file system would have refused.
func (r *Run) Unlike() []string { return looked(r, func() []string { return slices.Clone(r.unlike) }) }

// Exit says how a process ended; false while it runs, or when there was none.
func (r *Run) Exit(pid int) (Exit, bool) {
	exits := looked(r, func() (all []Exit) {
		for _, p := range r.procs {
			if p.pid == pid && p.gone {
				all = append(all, p.exit)
			}
		}
		return all
	})
	if len(exits) == 0 {
		return Exit{}, false
	}
	return exits[len(exits)-1], true
}

// Real is the pid that a living process has on this machine; 0 where there is none.
func (r *Run) Real(pid int) int {
	return looked(r, func() int {
		if p := r.process(pid); p != nil {
			return p.real
		}
		return 0
	})
}

// Taken lists the pids of processes that run, or have ended and whose parents run and have not waited for them: of
// children of a process, and of others.
func (r *Run) Taken(parent int) (children, others []int) {
	_ = r.on(func() {
		of := r.process(parent)
		for _, p := range r.procs {
			switch {
			case p.gone && (p.reaped || p.parent == nil || p.parent.gone):
			case p.parent == of:
				children = append(children, p.pid)
			default:
				others = append(others, p.pid)
			}
		}
	})
	return children, others
}

// Program is what /proc tells of the root process's program now.
func (r *Run) Program() Program {
	return looked(r, func() Program {
		of := func(name string) string {
			b, _ := os.ReadFile("/proc/" + strconv.Itoa(r.procs[0].real) + "/" + name)
			return string(b)
		}
		return Program{strings.TrimSuffix(of("comm"), "\n"), of("cmdline"), of("environ")}
	})
}

// Renamed reports whether that has changed since the run's first answer: by execve(2), or by prctl(PR_SET_NAME).
func (r *Run) Renamed() bool { return looked(r, func() bool { return r.renamed }) }

// Calls counts the system calls that have been looked at, in this run and not in the one that it is
// a clone of.
func (r *Run) Calls() int { return looked(r, func() int { return r.calls }) }

// Stdout returns what the processes have written to the run's standard output so far.
func (r *Run) Stdout() string { return looked(r, r.out.stdout.text.String) }

// Stderr is Stdout for the standard error.
func (r *Run) Stderr() string { return looked(r, r.out.stderr.text.String) }

// looked is what f finds while nothing else looks at the run, also when it is over.
func looked[T any](r *Run, f func() T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return f()
}

// A capture holds the reading ends of the program's output.
type capture struct{ stdout, stderr stream }

type stream struct {
	fd   int // -1 when closed
	text strings.Builder
}
