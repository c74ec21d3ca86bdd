package scenarios

import (
	"cmp"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/model"
)

// A Program is what one task runs, from its start to its end.
type Program func(t *Task)

// A Task is a simulated thread or async task: its view of the machine, and the means
// to record the operations that the history is made of.
type Task struct {
	*fsfake.Proc
	// Process names the process: "A", "B", … It is the owner in histories.
	Process string
	// Index counts the processes from 0, as Scenario.Program does.
	Index int
	// Learning is not nil while it is learned what the program does, and while that is looked at
	// again, before anything is concluded; nil everywhere else.
	Learning *Learning
	// inside is its process's pid in a container of its own; 0: it is in none.
	inside int
	// Handler: it is a signal handler.
	Handler bool
	// leaves: it is the signal handler of a process with one other task.
	leaves bool
	// holds names the locks that it has acquired and not released, as often as it has.
	holds []string
}

// A Learning is what a program that takes long to start may keep between the runs by which it is
// learned, and by these only; or between those by which that is looked at again. One goroutine uses it
// at a time.
type Learning struct {
	// Again: what was learned is looked at again, with another Learning.
	Again bool
	// Tries: it is tried out whether the program forgets what it was told. What is seen then is of no further use.
	Tries bool
	// Kept is the program's; nil at first.
	Kept interface{ Close() }
	// Light, as the program says, is how many runs of it may stand still at once, each at the end of what was
	// learned by it, because they share what they need. Zero means as few as of any program.
	Light int
}

// Close lets go of what is kept.
func (l *Learning) Close() {
	if l.Kept != nil {
		l.Kept.Close()
	}
	l.Kept = nil
}

// Getpid returns the process id, that of its container if it is in one. It is constant for a process, and so no
// step.
func (t *Task) Getpid() int {
	if pid := t.Proc.Getpid(); t.inside == 0 {
		return pid
	}
	return t.inside
}

// Invoked is noted when an operation begins. Its time is that of the operation's
// first step.
type Invoked struct{ Input any }

// Returned is noted when the operation begun last has returned. Its time is that of
// the operation's last step.
type Returned struct{ Output any }

// Holding is noted when an acquisition returns: from then on the task holds the lock
// at Path. FD is the descriptor through which it knows the lock object, or -1 when the
// object is whatever stands at Path at that moment.
type Holding struct {
	Path string
	FD   int
	// Reads: others may hold it together with the task, as long as they all read.
	Reads bool
	// Lock is the lock's name in histories; see LockName.
	Lock string
}

// Asserted is noted when a task asserts something: whether it is so, and its text if it
// is not. Its time is that of the task's step before, or of its first.
type Asserted struct {
	OK   bool
	Text string
}

// LetGo is noted when a release begins: it takes effect with the release's first step. The
// release is noted next, and says of which lock.
type LetGo struct{}

// LetGoFirst is noted in its place when a signal handler lets go of what the first task of its process
// holds, which it has interrupted for good.
type LetGoFirst struct{}

// By is noted before a call that is not the task's own: another thread or a child of the
// program that the task runs makes it.
type By struct{ Task fsfake.Task }

// What real programs look at, and what is not followed of them, is noted before a call.
const (
	// ClockSeen: the program has looked at the time of day since its last call without asking the machine.
	// It has been told that the clock stands still.
	ClockSeen = fsfake.SeenOfPrograms << iota
	// OneOrder: several threads or processes of one program asked at once and only one order of their calls, or a
	// few, were followed: a space with it never holds. Where all orders are, the program makes an
	// [fsfake.CallChoose] before each such call.
	OneOrder
	// TimedWait: the call waits while a timer runs which may end the wait: who waits there does not wait for
	// ever. That the timer does end it is another way that the program goes.
	TimedWait
	// TimersLast: a timer of the program was running beside the call, and the call went first.
	TimersLast
	// Mapped: the call maps a file. The program is shown the file as it is then, and a real mapping may show
	// what others write to it later.
	Mapped
	// Chosen: the schedule has chosen this call among several of its program, at a [fsfake.CallChoose].
	// Both are one step: what others can do between the two they can do before.
	Chosen
)

// Killed is the Value of the answer to a call during which the first process of a program was
// killed that has others: the program goes on with what those ask. The call itself has not
// returned.
type Killed struct {
	// Begun: the call waits. When another process than the killed one made it, it still does, and
	// what was noted before it has been taken.
	Begun bool
}

// A Fault is what a program panics with that cannot go on, and not because of what its
// calls answered: the run is an error and no verdict.
type Fault struct{ Err error }

// Error returns what happened.
func (f Fault) Error() string { return f.Err.Error() }

// Note hands v to whoever drives the task, as [fsfake.Proc.Note] does. What an operation is invoked with and returns
// is looked at first: a history that cannot hold it ends the run as an error.
func (t *Task) Note(v any) {
	var err error
	switch v := v.(type) {
	case Invoked:
		err = model.Recordable(v.Input)
	case Returned:
		if v.Output != nil && !reflect.ValueOf(v.Output).Comparable() {
			err = fmt.Errorf("values of %T cannot be compared", v.Output)
		}
	}
	if err != nil {
		t.Fault(fmt.Errorf("scenarios: task %s.%d records an operation that no history can hold: %w", t.Process,
			t.Proc.Task(), err))
	}
	t.Proc.Note(v)
}

// Fault ends the task's program with a fault of what runs it. It does not return.
func (t *Task) Fault(err error) { panic(Fault{err}) }

// Record runs f as one operation of the history: invoked with input at f's first
// step, returned with f's result at its last. f must make at least one step. An
// operation must not contain another.
func Record[O comparable](t *Task, input any, f func() O) O {
	t.Note(Invoked{input})
	out := f()
	t.Note(Returned{out})
	return out
}

// Acquire records f as an acquisition of the lock at path by the task's process. When f succeeds
// the task holds it from f's last step on. A scenario may have several locks, each judged for
// itself: see [LockName] for which paths are one lock. Where one lock has several names, all its
// acquisitions give one path, and Hold.Path tells the names apart.
func (t *Task) Acquire(path string, f func() (Hold, error)) (Hold, error) {
	return t.acquire(model.Acquire{Owner: t.Process, Lock: LockName(path)}, path, f)
}

// Release records f as the release of what the task holds. The task is outside the
// critical section from f's first step on. A task that holds several locks says which with
// ReleaseOf; otherwise properties of a lock have no verdict.
func (t *Task) Release(f func() error) error { return t.ReleaseOf("", f) }

// ReleaseOf is Release for the lock at path.
func (t *Task) ReleaseOf(path string, f func() error) error {
	return t.release(model.Release{Owner: t.Process, Lock: t.held(path)}, f)
}

// Leave is how a signal handler lets go of the lock at path and ends its process: f is recorded as the
// release of what the interrupted task holds of it, if it does, and then the process exits
// ([fsfake.Proc.Exit]). The program must return after it: the interrupted task never goes on, so it is
// outside of the critical section from f's first step on. f must make a call. A handler that returns
// to that task must not record a release, for the task goes on as if it held the lock. Only the
// handler of a process with one task may call it; properties of readers and writers have no such release.
func (t *Task) Leave(path string, f func()) {
	if !t.leaves {
		t.Fault(fmt.Errorf("scenarios: task %s.%d calls Leave, and is not the signal handler (Setting.Handlers) of a process with one task", t.Process, t.Proc.Task()))
	}
	t.Note(LetGoFirst{})
	t.Note(Invoked{model.Release{Owner: t.Process, Lock: LockName(path)}})
	f()
	t.Note(Returned{model.Released{}})
	t.Exit()
}

// AcquireRead is Acquire for a reader, which may hold the lock together with other
// readers. The property is RWExclusion.
func (t *Task) AcquireRead(path string, f func() (Hold, error)) (Hold, error) {
	return t.acquire(model.RAcquire{Owner: t.Process, Lock: LockName(path)}, path, f)
}

// ReleaseRead is Release for a reader.
func (t *Task) ReleaseRead(f func() error) error { return t.ReleaseReadOf("", f) }

// ReleaseReadOf is ReleaseOf for a reader.
func (t *Task) ReleaseReadOf(path string, f func() error) error {
	return t.release(model.RRelease{Owner: t.Process, Lock: t.held(path)}, f)
}

// AcquireWrite is Acquire for a writer, which holds the lock alone. The property is
// RWExclusion.
func (t *Task) AcquireWrite(path string, f func() (Hold, error)) (Hold, error) {
	return t.acquire(model.WAcquire{Owner: t.Process, Lock: LockName(path)}, path, f)
}

// ReleaseWrite is Release for a writer.
func (t *Task) ReleaseWrite(f func() error) error { return t.ReleaseWriteOf("", f) }

// ReleaseWriteOf is ReleaseOf for a writer.
func (t *Task) ReleaseWriteOf(path string, f func() error) error {
	return t.release(model.WRelease{Owner: t.Process, Lock: t.held(path)}, f)
}

func (t *Task) acquire(input any, path string, f func() (Hold, error)) (Hold, error) {
	t.Note(Invoked{input})
	h, err := f()
	_, reads := input.(model.RAcquire)
	_, joins := input.(model.Acquire)
	t.Note(Returned{model.Acquired{OK: err == nil, Shared: h.Shared && joins}})
	if err == nil {
		fd := -1
		if h.File != nil {
			fd = h.File.Fd()
		}
		lock := LockName(path)
		t.holds = append(t.holds, lock)
		t.Note(Holding{Path: cmp.Or(h.Path, path), FD: fd, Reads: reads, Lock: lock})
	}
	return h, err
}

func (t *Task) release(input any, f func() error) error {
	lock, _ := model.LockOf(input)
	if at := slices.Index(t.holds, lock); at >= 0 {
		t.holds = slices.Delete(t.holds, at, at+1)
	}
	t.Note(LetGo{})
	t.Note(Invoked{input})
	err := f()
	t.Note(Returned{model.Released{}})
	return err
}

// held names the lock at path, or with no path the one lock that the task holds.
func (t *Task) held(path string) string {
	if path != "" || len(t.holds) == 0 {
		return LockName(path)
	}
	for _, lock := range t.holds {
		if lock != t.holds[0] {
			return ""
		}
	}
	return t.holds[0]
}

// LockName names the lock at a path, as histories do. Two acquisitions are of one lock if their
// paths have one name: relative paths begin at the root, where every process starts, and
// "/run/./x.lock" and "run/x.lock" are /run/x.lock. A path with ".." in it stays as it is, for
// what it means is up to the machine. Paths with different names that lead to one file or to
// one place in a directory, through symlinks or hard links, are told by the checker, which then
// gives no verdict. The empty path names no lock: it is for a scenario with one.
func LockName(lock string) string {
	if lock == "" || slices.Contains(strings.Split(lock, "/"), "..") {
		return lock
	}
	return path.Clean("/" + lock)
}

// Grant records f as the grant of a lease: f answers with the lease's fencing token,
// which counts the grants from 1, or with an error when it was refused. The property is
// Fencing. Where there are several leases, GrantOf says which.
func (t *Task) Grant(f func() (token int, err error)) (token int, err error) {
	return t.GrantOf("", f)
}

// GrantOf is Grant for the lease at path.
func (t *Task) GrantOf(path string, f func() (token int, err error)) (token int, err error) {
	Record(t, model.Grant{Owner: t.Process, Lock: LockName(path)}, func() model.Granted {
		if token, err = f(); err != nil {
			return model.Granted{Refused: true}
		}
		return model.Granted{Token: token}
	})
	return token, err
}

// Use records f as the use of a resource under a fencing token; f reports whether the
// resource accepted it.
func (t *Task) Use(token int, f func() bool) bool { return t.UseOf("", token, f) }

// UseOf is Use for a token of the lease at path.
func (t *Task) UseOf(path string, token int, f func() bool) bool {
	return Record(t, model.Use{Token: token, Lock: LockName(path)}, func() model.Used { return model.Used{OK: f()} }).OK
}

// In is the task with every call made by another task, in its process: a child's, as [By] says. What is
// not a call, such as a cell, stays the task's own.
func (t *Task) In(by By) *Task {
	in := *t
	in.Proc = fsfake.NewProc(byPort{t.Proc, by}, by.Task.Pid, by.Task.N)
	return &in
}

// byPort notes before each call who makes it.
type byPort struct {
	*fsfake.Proc
	by By
}

func (p byPort) Do(op fsfake.Op) fsfake.Result {
	p.Note(p.by)
	return p.Proc.Do(op)
}

// Choose returns a number from 0 to n-1: which one is a choice of the schedule, and every one is
// tried. It is a step. n must be 1 or more.
func (t *Task) Choose(n int) int {
	return int(t.Do(fsfake.Op{Call: fsfake.CallChoose, Len: int64(n)}).N)
}

// Start begins task n of the same process, one that [Setting.Running] leaves to be started: as
// pthread_create(3), a go statement, or a call of an async function that is not awaited. It is an
// access to memory: a step of its own between threads, a part of the turn under an event loop. The
// new task begins in a step, or turn, of its own: of an async function, what it does before its
// first await is written here instead. A task that runs, has ended or is not there cannot be
// started: the run is an error, and no verdict.
func (t *Task) Start(n int) {
	t.Do(fsfake.Op{Call: fsfake.CallStart, Len: int64(n)})
}

// Assert notes whether something is so at this point of the protocol. The property
// Assertion is broken where it is not; the text says what should be. The task goes on
// either way, and other properties are judged as if Assert were not there. It makes no
// call: its time is that of the call before it.
func (t *Task) Assert(ok bool, format string, args ...any) {
	if ok {
		t.Note(Asserted{OK: true})
		return
	}
	t.Note(Asserted{Text: fmt.Sprintf(format, args...)})
}
