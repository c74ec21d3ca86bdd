//go:build linux

package kernel

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

func init() {
	// The calls must come from the main thread, whose user id is the process's as others
	// see it. Only here does the main goroutine run on it for sure.
	if os.Getenv(workerEnv) != "" {
		runtime.LockOSThread()
	}
}

// MaybeWorker must be called first thing in main or TestMain of a binary that uses a
// [Machine]. In an execution that a Machine has started it serves the Machine and never
// returns; in any other it does nothing.
func MaybeWorker() {
	spec := os.Getenv(workerEnv)
	if spec == "" {
		return
	}
	w := &worker{}
	if err := w.start(spec); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	leave(w.serve(w.env.Slot, w.env.Stage == stageExec))
}

// leave ends a worker whose driver has gone, or that has met a fault of the machinery.
func leave(err error) {
	if err == errHungUp {
		unix.Exit(0)
	}
	rawWrite(fdErr, []byte(fmt.Sprintln(err)))
	unix.Exit(1)
}

// A worker is the process that makes the calls of a simulated process.
type worker struct {
	env environment
	caller
}

// A thread serves one channel.
type thread struct {
	*worker
	channel
	newborn bool // it has just been forked
}

// serve answers the driver until it has gone. After execve it begins by answering that.
func (w *worker) serve(slot int, afterExec bool) error {
	t := &thread{worker: w, channel: w.env.channel(slot)}
	var err error
	if w.env.Stage == stageNursery {
		err = t.forkNursery()
	}
	switch {
	case err != nil:
	case afterExec:
		err = t.answer(&fsfake.Result{})
	default:
		err = t.hello()
	}
	for err == nil {
		err = t.next()
	}
	return err
}

func (t *thread) hello() error {
	e := t.body()
	e.int(int64(unix.Gettid()))
	return t.send(frameHello, e.b)
}

// next serves one frame.
func (t *thread) next() error {
	kind, body, err := t.receive()
	if err != nil {
		return err
	}
	d := decoder{body}
	switch kind {
	case frameOp:
		op := d.op()
		r := t.do(&op)
		return t.answer(&r)
	case frameSpawn:
		r, err := t.spawn(&d)
		if err != nil {
			return err
		}
		return t.answer(&r)
	case frameTask:
		slot := int(d.int())
		started := make(chan bool)
		go func() {
			runtime.LockOSThread()
			close(started)
			if t.serve(slot, false) != nil {
				os.Exit(1)
			}
		}()
		<-started // reading without the scheduler's knowledge before that could keep it from starting
		return nil
	}
	return fmt.Errorf("kernel: unknown frame %q", kind)
}

func (t *thread) answer(r *fsfake.Result) error {
	if t.newborn { // it is the parent who was asked for something
		t.newborn = false
		return t.hello()
	}
	e := t.body()
	e.result(r)
	return t.send(frameResult, e.b)
}

// fork makes a child with every descriptor of this process, which serves another channel.
// The child is the driver's to wait for.
func (t *thread) fork(slot int) fsfake.Result {
	if t.env.CallsOnly {
		return number(t.forkOnly(slot, 0))
	}
	e := t.env
	e.Stage, e.Slot, e.CloseOnExec, e.Closed = stageFork, slot, nil, nil
	files := []uintptr{0, 1, 2}
	for fd := range maxFDs {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		switch {
		case err == nil && flags&unix.FD_CLOEXEC != 0:
			e.CloseOnExec = append(e.CloseOnExec, fd)
		case err != nil && fd < numStreams:
			e.Closed = append(e.Closed, fd)
			files[fd] = ^uintptr(0)
			// ForkExec makes a pipe, and moves it over other descriptors when its numbers
			// are those of standard streams.
			unix.Dup3(fdNull, fd, unix.O_CLOEXEC)
			defer unix.Close(fd)
		}
	}
	e.hideNonBlocking()
	t.setCloseOnExec(e.CloseOnExec, 0)
	defer t.setCloseOnExec(e.CloseOnExec, unix.FD_CLOEXEC)
	var pid int
	err := t.outside(func() (err error) {
		pid, err = syscall.ForkExec(e.self(), os.Args[:1], &syscall.ProcAttr{
			Env: e.environ(), Files: files,
			Sys: &syscall.SysProcAttr{Cloneflags: unix.CLONE_PARENT},
		})
		return err
	})
	return number(pid, err)
}

func (t *thread) setCloseOnExec(fds []int, flag int) {
	for _, fd := range fds {
		unix.FcntlInt(uintptr(fd), unix.F_SETFD, flag)
	}
}

// exec executes the binary again, in this process. It returns only when that failed.
func (t *thread) exec() fsfake.Result {
	e := t.env
	e.Stage, e.CloseOnExec, e.Closed = stageExec, nil, nil
	e.CallsOnly = false // it will have threads: see process.go
	for fd := range numStreams {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC != 0 {
			e.Closed = append(e.Closed, fd)
		}
	}
	e.hideNonBlocking()
	return failed(t.outside(func() error { return syscall.Exec(e.self(), os.Args[:1], e.environ()) }))
}

// environ returns the environment of a worker.
func (e *environment) environ() []string {
	env := []string{
		workerEnv + "=" + e.String(),
		// The runtime must not keep descriptors of its own nor send signals.
		"GODEBUG=asyncpreemptoff=1,containermaxprocs=0,updatemaxprocs=0",
	}
	if e.CallsOnly { // see process.go
		env = append(env, "GOMAXPROCS=1", "GOGC=off")
	} else if e.Tasks > 1 { // see raw.go: every thread waits with a processor in its hands
		env = append(env, "GOMAXPROCS="+strconv.Itoa(e.Tasks+1), "GOGC=off")
	} else {
		env = append(env, "GOMAXPROCS=1", "GOGC=400")
	}
	for _, v := range os.Environ() {
		// The coverage of a worker is nobody's business; a library path may be needed.
		if strings.HasPrefix(v, "LD_LIBRARY_PATH=") {
			env = append(env, v)
		}
	}
	return env
}
