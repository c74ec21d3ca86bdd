//go:build linux

package kernel

import (
	"fmt"
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
			return false, fmt.Errorf("kernel: worker %d neither answers nor is blocked, its state is %c", p.pid, p.state())
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
