//go:build linux && amd64

package tracer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// A second run from where a first one is, by fork(2): the program need not start anew.
//
// The first run makes a clone(2) in place of its call, whose child has the same parent as itself
// (CLONE_PARENT), and then comes to its call again. The child is given streams of its own, is let
// go, stopped, and is taken over by the thread of the second run, where it comes to that call, too.

var errSnapshot = errors.New("tracer: the run has been cloned and is kept as a snapshot: it can be cloned and stopped, and does not go on")

// Clone returns a run that is where this one is, and has been told the same. It is for a run at
// rest, after Next. From then on this run is a snapshot: it can be cloned again, and must be
// stopped, but does not go on. The error is [ErrNoClone] where it has not become one: the program
// has several threads, or processes, it waits in a call, it has a pipe open, or a real file other than
// a plain one that it only reads, shared memory, a timer or a signal that is to come.
func (r *Run) Clone() (*Run, error) {
	var child int
	var n *Run
	var err error
	over := r.on(func() {
		if r.err != nil {
			err = r.err
			return
		}
		if err = r.clonable(); err == nil {
			n, child, err = r.split()
		}
	})
	if err = errors.Join(err, over); err != nil {
		return nil, err
	}
	return n.begin(func() error { return n.take(child) })
}

// split makes the second process, which is let go, stopped; and the run that it will be.
func (r *Run) split() (*Run, int, error) {
	t := r.procs[0].threads[0]
	r.out.drain()
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return nil, 0, noClone("%v", err)
	}
	r.cloned = true // whatever happens now: from here on others may be children of this thread
	fork := regs
	fork.Orig_rax, fork.Rdi, fork.Rsi, fork.Rdx, fork.R10, fork.R8 = unix.SYS_CLONE,
		unix.CLONE_PARENT|unix.CLONE_CHILD_CLEARTID|uint64(unix.SIGCHLD), 0, 0, t.clears, 0
	child, err := forkAt(t.tid, &fork)
	if err != nil {
		r.err = fmt.Errorf("tracer: a clone: %w", err)
		return nil, 0, r.err
	}
	regs.Rip -= 2 // the call is made again
	regs.Rax, regs.Orig_rax = regs.Orig_rax, ^uint64(0)
	if err := comeAgain(t.tid, &regs); err != nil {
		r.err = fmt.Errorf("tracer: a clone: %w", err)
		killOne(child)
		return nil, 0, r.err
	}
	n := r.copyFor(child)
	if n.mask, err = setMask(child, 0); err == nil { // or the signal that lets it go on would not come
		err = n.ownStreams(r, child, &regs)
	}
	if err == nil {
		err = ptrace(unix.PTRACE_DETACH, child, 0, uintptr(unix.SIGSTOP))
	}
	if err != nil {
		killOne(child)
		n.out.close()
		return nil, 0, fmt.Errorf("tracer: a clone: %w", err)
	}
	return n, child, nil
}

// forkAt makes the call that regs say, which is a clone(2), and returns the child at its first stop.
func forkAt(tid int, regs *unix.PtraceRegs) (child int, err error) {
	if err := unix.PtraceSetRegs(tid, regs); err != nil {
		return 0, err
	}
	ws, err := step(tid, unix.PTRACE_SYSCALL)
	if err != nil {
		return 0, err
	}
	if uint32(ws)>>16 != unix.PTRACE_EVENT_FORK && uint32(ws)>>16 != unix.PTRACE_EVENT_CLONE {
		return 0, fmt.Errorf("an unexpected stop, status %#x", uint32(ws))
	}
	msg, err := unix.PtraceGetEventMsg(tid)
	if err != nil {
		return 0, err
	}
	child = int(msg)
	if ws, err = waitFor(child); err == nil && uint32(ws)>>16 != eventStop {
		err = fmt.Errorf("an unexpected stop of the child, status %#x", uint32(ws))
	}
	if err == nil {
		if ws, err = step(tid, unix.PTRACE_SYSCALL); err == nil && ws.StopSignal() != syscallStop {
			err = fmt.Errorf("an unexpected stop, status %#x", uint32(ws))
		}
	}
	if err != nil {
		killOne(child)
	}
	return child, err
}

// comeAgain lets a thread come to the call that regs stand before.
func comeAgain(tid int, regs *unix.PtraceRegs) error {
	if err := unix.PtraceSetRegs(tid, regs); err != nil {
		return err
	}
	ws, err := step(tid, unix.PTRACE_CONT)
	if err == nil && uint32(ws)>>16 != unix.PTRACE_EVENT_SECCOMP {
		err = fmt.Errorf("an unexpected stop, status %#x", uint32(ws))
	}
	return err
}

// step lets a stopped thread go on to its next stop.
func step(tid, req int) (unix.WaitStatus, error) {
	if err := ptrace(req, tid, 0, 0); err != nil {
		return 0, err
	}
	return waitFor(tid)
}

// waitFor waits for one thread's next stop.
func waitFor(tid int) (unix.WaitStatus, error) {
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(tid, &ws, wallNoThread, nil)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return ws, err
		case !ws.Stopped():
			return ws, errors.New("it has ended")
		default:
			return ws, nil
		}
	}
}

// killOne kills one process of this thread, and waits until it is gone.
func killOne(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL)
	_ = ptrace(unix.PTRACE_CONT, pid, 0, 0)
	for {
		if _, err := waitFor(pid); err != nil {
			return
		}
		_ = ptrace(unix.PTRACE_CONT, pid, 0, 0)
	}
}

// copyFor is what is known of the run, for a process that is the image of its only one.
func (r *Run) copyFor(child int) *Run {
	n := newRun(r.c)
	n.dir, n.now, n.nowIs, n.nowKnown, n.answers = r.dir, r.now, r.nowIs, r.nowKnown, r.answers
	n.refused, n.unlike = slices.Clone(r.refused), slices.Clone(r.unlike)
	n.looks, n.tied, n.renamed, n.peeks, n.eofs, n.peeked = r.looks, r.tied, r.renamed, r.peeks, r.eofs, r.peeked
	n.execs, n.draws, n.pipes = slices.Clone(r.execs), r.draws, maps.Clone(r.pipes)
	n.out.stdout.text.WriteString(r.out.stdout.text.String())
	n.out.stderr.text.WriteString(r.out.stderr.text.String())
	of := map[*process]*process{}
	for _, p := range r.procs {
		c := *p
		c.r, c.threads, c.parent = n, nil, of[p.parent]
		rng := *p.rng
		c.rng = &rng
		c.fds, c.closing, c.alarms = copyFDs(p.fds), nil, nil
		for _, a := range p.alarms {
			a := *a
			c.alarms = append(c.alarms, &a)
		}
		for _, f := range p.closing {
			f := *f
			c.closing = append(c.closing, &f)
		}
		of[p] = &c
		n.procs = append(n.procs, &c)
	}
	root := n.procs[0]
	root.real = child
	n.dog.remember(child)
	was := r.procs[0].threads[0]
	t := n.addThread(root, child)
	t.n, t.c, t.clears, root.created = was.n, was.c, was.clears, r.procs[0].created
	return n
}

// copyFDs copies a table of descriptors. Duplicates share their description.
func copyFDs(from map[int]*descriptor) map[int]*descriptor {
	to := maps.Clone(from)
	files := map[*description]*description{}
	for fd, d := range from { // order does not matter: a copy
		c := *d
		if d.file != nil {
			if files[d.file] == nil {
				f := *d.file
				files[d.file] = &f
			}
			c.file = files[d.file]
		}
		to[fd] = &c
	}
	return to
}

// ownStreams gives the child a session of its own, and streams: a pipe in place of each that is the
// first run's, under the same numbers. The child is killed should we be, until another thread
// traces it. It stands at a signal's stop then.
func (n *Run) ownStreams(r *Run, child int, regs *unix.PtraceRegs) error {
	c := &injector{pid: child, regs: *regs, at: (regs.Rsp - 0x4000) &^ 15}
	before, err := readFull(child, c.at, 64)
	if err != nil {
		return err
	}
	c.call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uint64(unix.SIGKILL))
	c.call(unix.SYS_SETSID)
	if head, size := robustList(r.procs[0].threads[0].tid); head != 0 {
		c.call(unix.SYS_SET_ROBUST_LIST, head, size) // which no child is born with
	}
	for _, s := range []struct{ from, to *stream }{{&r.out.stdout, &n.out.stdout}, {&r.out.stderr, &n.out.stderr}} {
		numbers := r.procs[0].numbersOf(s.from)
		if len(numbers) == 0 {
			continue
		}
		reads, writes := c.pipe()
		if c.err == nil {
			s.to.fd, c.err = openReader(child, reads)
		}
		for _, fd := range numbers {
			c.call(unix.SYS_DUP3, writes, uint64(fd.number), uint64(bit(fd.closes, unix.O_CLOEXEC)))
		}
		c.call(unix.SYS_CLOSE, reads)
		c.call(unix.SYS_CLOSE, writes)
	}
	again, err := r.procs[0].sharesFiles()
	c.err = errors.Join(c.err, err)
	for _, f := range again {
		c.reopen(f)
	}
	if c.err != nil {
		return c.err
	}
	return errors.Join(writeMem(child, c.at, before), unix.PtraceSetRegs(child, regs))
}

// reopen opens a file anew under its number.
func (c *injector) reopen(f reopened) {
	if c.err == nil {
		c.err = writeMem(c.pid, c.at, append([]byte("/proc/self/fd/"+strconv.Itoa(f.fd)), 0))
	}
	var own uint64
	if f.event {
		own = c.call(unix.SYS_EVENTFD2, f.at, f.opened)
	} else {
		own = c.call(unix.SYS_OPEN, c.at, f.opened&^unix.O_CLOEXEC)
		c.call(unix.SYS_LSEEK, own, f.at, unix.SEEK_SET)
	}
	c.call(unix.SYS_DUP3, own, uint64(f.fd), f.opened&unix.O_CLOEXEC)
	c.call(unix.SYS_CLOSE, own)
}

// openReader opens the reading end of a pipe of another process.
func openReader(pid int, fd uint64) (int, error) {
	name := "/proc/" + strconv.Itoa(pid) + "/fd/" + strconv.FormatUint(fd, 10)
	reader, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err == nil {
		_, _ = unix.FcntlInt(uintptr(reader), unix.F_SETPIPE_SZ, pipeSize)
	}
	return reader, err
}

// take makes this thread the tracer of a process that [Run.split] has let go, and lets it come to
// its call.
func (r *Run) take(child int) error {
	if err := r.pin(); err != nil {
		return err
	}
	if err := r.seize(child); err != nil {
		return err
	}
	_ = unix.SchedSetaffinity(child, &r.cpu)
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(child, &regs); err != nil {
		return err
	}
	c := &injector{pid: child, regs: regs}
	c.call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0)
	if err := errors.Join(c.err, unix.PtraceSetRegs(child, &regs)); err != nil {
		return err
	}
	if _, err := setMask(child, r.mask); err != nil { // at last: a single step unblocks SIGTRAP
		return err
	}
	r.procs[0].threads[0].goOn(unix.PTRACE_CONT)
	return nil
}
