//go:build linux

package kernel

import (
	"fmt"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// A process is the driver's side of a worker: one thread of it, which serves one slot.
type process struct {
	channel
	slot     int
	pid      int  // the real one
	tid      int  // the thread's
	inside   bool // it is process 1 of a pid namespace of its own
	greeted  bool
	watch    *watcher
	forked   int        // workers, by a nursery
	execed   bool       // it has made execve(2), or was made by one that had
	blocked  *fsfake.Op // the call that it is blocked in
	answered bool       // it has answered since; result is what
	result   fsfake.Result
}

// patience is how long a worker may take for anything that does not block.
const patience = 20 * time.Second

// arrives waits until there is something to read.
func (p *process) arrives(d time.Duration) bool {
	if len(p.in) > 0 {
		return true
	}
	return rawPoll(p.r, d)
}

// expect waits for a frame of one of the kinds given.
func (p *process) expect(kinds ...frameKind) (frameKind, []byte, error) {
	const now = 100 * time.Millisecond
	for waited := time.Duration(0); !p.arrives(now); waited += now {
		if waited > patience || p.greeted && p.state() == 0 {
			return 0, nil, fmt.Errorf("kernel: worker %d does not answer, its state is %c", p.pid, p.state())
		}
	}
	k, body, err := p.receive()
	for _, want := range kinds {
		if k == want {
			return k, body, err
		}
	}
	if err == nil {
		err = fmt.Errorf("kernel: worker %d answered %q, want %q", p.pid, k, kinds)
	}
	return k, body, err
}

func (p *process) state() byte {
	if !p.greeted {
		return '?'
	}
	if w, err := p.look(); err == nil && !w.gone() {
		return w.state()
	}
	return 0
}

// greet waits until the worker is ready. Workers start while the driver does other things.
func (p *process) greet() error {
	if p.greeted {
		return nil
	}
	_, body, err := p.expect(frameHello)
	if err != nil {
		return err
	}
	d := decoder{body}
	p.greeted = true
	if p.tid = int(d.int()); p.inside {
		p.tid = p.pid // it only knows what it is in there
	}
	return nil
}

// look returns what looks at the worker, which has said hello.
func (p *process) look() (*watcher, error) {
	var err error
	if p.watch == nil {
		p.watch, err = newWatcher(p.pid, p.tid)
	}
	return p.watch, err
}

// call has the worker make a call that may block. It returns when the call has returned,
// or is blocked.
func (p *process) call(op *fsfake.Op) (fsfake.Result, error) {
	e := p.body()
	e.op(op)
	p.execed = p.execed || op.Call == fsfake.CallExec
	if err := p.send(frameOp, e.b); err != nil {
		return fsfake.Result{}, err
	}
	if !op.MayBlock() {
		return p.takeResult()
	}
	blocked, err := p.settle()
	if err != nil {
		return fsfake.Result{}, err
	}
	if blocked {
		kept := *op
		p.blocked = &kept
		return fsfake.Result{Blocked: true}, nil
	}
	return p.takeResult()
}

func (p *process) takeResult() (fsfake.Result, error) {
	_, body, err := p.expect(frameResult)
	if err != nil {
		return fsfake.Result{}, err
	}
	d := decoder{body}
	return d.result(), nil
}

// settle waits until the worker has answered or is blocked in a lock call.
func (p *process) settle() (blocked bool, err error) {
	const eager = 2000
	var deadline time.Time
	for try := 0; ; try++ {
		// On the same CPU, this lets the worker run.
		unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
		wait := time.Duration(0)
		if try > eager {
			wait = time.Millisecond
		}
		if p.arrives(wait) {
			return false, nil
		}
		w, err := p.look()
		if err != nil {
			return false, err
		}
		if w.blocked() {
			// What it answered before it slept would be there by now.
			return !p.arrives(0), nil
		}
		switch {
		case try < eager:
		case deadline.IsZero():
			deadline = time.Now().Add(patience)
		case time.Now().After(deadline):
			return false, fmt.Errorf("kernel: worker %d neither answers nor is blocked, its state is "+
				"%c", p.pid, p.state())
		}
	}
}

// wake notes the answer of a blocked worker, if it has come.
func (p *process) wake() error {
	if p.blocked == nil || p.answered {
		return nil
	}
	blocked, err := p.settle()
	if err != nil || blocked {
		return err
	}
	p.result, err = p.takeResult()
	p.answered = true
	return err
}

// interrupt sends the signal that ends a blocked call.
func (p *process) interrupt() error {
	if err := unix.Tgkill(p.pid, p.tid, interruptSignal); err != nil {
		return fmt.Errorf("kernel: interrupting worker %d: %w", p.pid, err)
	}
	return nil
}

// reaped waits for the end of the worker.
func (p *process) reaped() {
	for {
		_, err := unix.Wait4(p.pid, nil, 0, nil)
		if err != unix.EINTR {
			break
		}
	}
	p.forget()
}

// forget closes what the driver keeps open to look at the worker.
func (p *process) forget() {
	if p.watch != nil {
		p.watch.close()
		p.watch = nil
	}
}

// kill ends the worker as SIGKILL does.
func (p *process) kill() {
	unix.Kill(p.pid, unix.SIGKILL)
	p.reaped()
}

// To execute the binary again costs several milliseconds, a hundred times what a call
// costs. Where workers make calls and nothing else ([Options.CallsOnly]), they are forked
// instead: the machine has a nursery, a worker without a simulated process, which forks one
// for every process that starts; and fork(2) is just that.
//
// The Go runtime does not know that it was forked. The child has one thread, and whatever
// the others did is never finished. What a worker does between two frames gets along with
// that: it runs on the one goroutine that is locked to the main thread, waits only in
// system calls, starts no goroutine, and collects no garbage (GOGC=off; a nursery that has
// forked many is not used again).
//
// That holds for the children of a process with one thread. One that was executed has more:
// the runtime's monitor, which asks a goroutine that has run for 10 ms to let others run, and
// idle ones. Its child may inherit that request, or a lock that another thread held, and
// waits for ever then. So the nursery is itself a fork, the only one of a process with
// threads, and before it is used it tries what would wait: see [tryRuntime]. One that does
// not say that it is well is killed, and another made. A worker that has made execve(2) has
// threads again; it makes its children as those workers do that were executed.

// maxForks is how many workers a nursery forks, which collects no garbage.
const maxForks = 20_000

// forkOnly makes a child that goes on as this process does, and serves another channel. In
// the child it returns as well; what the child then answers is hello.
func (t *thread) forkOnly(slot, spaces int) (int, error) {
	pid, err := rawFork(spaces)
	if err == nil && pid == 0 {
		t.env.Stage, t.env.Slot = stageFork, slot
		t.channel, t.newborn = t.env.channel(slot), true
	}
	return pid, err
}

// forkNursery forks the nursery. The process that was executed says which process that is,
// and ends.
func (t *thread) forkNursery() error {
	pid, err := rawFork(0)
	if err == nil && pid == 0 {
		tryRuntime()
		return nil
	}
	r := number(pid, err)
	if err := t.answer(&r); err != nil {
		return err
	}
	unix.Exit(0)
	panic("unreachable")
}

// tryRuntime does what waits for ever where another thread has left the runtime's memory as
// it was in the middle of something: it lets itself be asked to let others run, takes the
// locks of the scheduler, of the heap, and that of execve(2).
func tryRuntime() {
	runtime.GOMAXPROCS(0)
	runtime.KeepAlive(make([]byte, 1<<20))
	_ = syscall.Exec("", nil, nil)
}

// spawn has the nursery fork a worker. It returns in the worker as well.
func (t *thread) spawn(d *decoder) (fsfake.Result, error) {
	slot, uid, gid, cwd := int(d.int()), int(d.int()), int(d.int()), d.string()
	spaces := 0
	if d.bool() {
		spaces = unix.CLONE_NEWPID
	}
	pid, err := t.forkOnly(slot, spaces)
	if err != nil || pid > 0 {
		return number(pid, err), nil
	}
	t.env.UID, t.env.GID, t.env.Cwd = uid, gid, cwd
	return fsfake.Result{}, t.env.settleIn(true)
}
