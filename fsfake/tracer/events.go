//go:build linux && amd64

package tracer

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// event handles one report of the kernel.
func (r *Run) event(tid int, ws unix.WaitStatus) {
	r.moved = true
	t := r.threads[tid]
	if t == nil {
		if ws.Stopped() {
			r.early[tid] = true // its parent's news will come
		}
		return
	}
	if !ws.Stopped() {
		r.threadGone(t, ws)
		return
	}
	t.p.ends = nil
	sig := ws.StopSignal()
	switch cause := int(uint32(ws) >> 16); {
	case sig == syscallStop:
		t.returned()
	case cause == unix.PTRACE_EVENT_SECCOMP:
		if t.called(); t.c.nr == unix.SYS_FCNTL || t.c.nr == unix.SYS_IOCTL {
			for _, p := range r.procs {
				p.ends = nil
			}
		}
	case cause == unix.PTRACE_EVENT_CLONE, cause == unix.PTRACE_EVENT_FORK, cause == unix.PTRACE_EVENT_VFORK:
		t.made(cause)
	case cause == unix.PTRACE_EVENT_VFORK_DONE:
		t.goOn(t.req)
	case cause == unix.PTRACE_EVENT_EXEC:
		t.execed()
	case cause == unix.PTRACE_EVENT_EXIT:
		t.exiting()
	case cause == eventStop && t.state == starting:
		t.begin()
	case cause == eventStop:
		t.stopped(sig)
	default:
		t.signal(sig)
	}
}

// stopped handles a stop that is no signal's: the first one of a child, or one that an
// interrupt made.
func (t *thread) stopped(sig unix.Signal) {
	if sig != unix.SIGTRAP {
		t.c = call{}
		t.unmodelled("stopped by %s: job control is not handled", unix.SignalName(sig))
		return
	}
	t.goOn(unix.PTRACE_CONT)
}

// signal handles the arrival of a signal.
func (t *thread) signal(sig unix.Signal) {
	info, err := getSiginfo(t.tid)
	if sig == unix.SIGSTOP && err == nil && info.pid == int32(os.Getpid()) {
		// The watchdog's poke: this thread may be waiting for another in a loop.
		t.goOn(unix.PTRACE_CONT)
		if t == t.r.cur {
			t.r.late()
			if n := t.r.next(); n != nil {
				t.r.cur = n
			}
		}
		return
	}
	if t.ticks(sig) {
		return
	}
	if sig == unix.SIGSTOP || sig == unix.SIGTSTP || sig == unix.SIGTTIN || sig == unix.SIGTTOU {
		t.c = call{}
		t.unmodelled("stopped by %s: job control is not handled", unix.SignalName(sig))
		return
	}
	if err == nil {
		t.showSender(info)
	}
	t.sig = int(sig)
	t.goOn(unix.PTRACE_CONT)
}

// made handles the news of a new thread or process.
func (t *thread) made(cause int) {
	msg, err := unix.PtraceGetEventMsg(t.tid)
	if err != nil {
		t.goOn(t.req) // killed meanwhile
		return
	}
	tid := int(msg)
	var n *thread
	if t.newPid == 0 {
		n = t.r.addThread(t.p, tid)
		if t.p.isJava() {
			n.starter = t.comm()
		}
	} else {
		p := t.r.addProcess(t.p, tid, t.newPid)
		p.born, _ = getMask(t.tid)
		n = t.r.addThread(p, tid)
		n.told, n.line = t.told, t.line
	}
	n.childTid, t.child = t.childTid, n
	// The kernel has written the real id where the parent wants it.
	if t.parentTid != 0 {
		t.writeTid(t.parentTid, n.vtid())
	}
	if t.r.early[tid] {
		delete(t.r.early, tid)
		n.begin()
	}
	if cause == unix.PTRACE_EVENT_VFORK {
		t.state, n.p.lender = vforking, t
		if err := ptrace(t.req, t.tid, 0, 0); err != nil && err != unix.ESRCH {
			t.fault("ptrace: %v", err)
		}
		return
	}
	t.goOn(t.req)
}

// begin is the first stop of a new thread.
func (t *thread) begin() {
	if t.childTid != 0 {
		t.writeTid(t.childTid, t.vtid())
	}
	t.goOn(unix.PTRACE_CONT)
}

func (t *thread) writeTid(at uint64, tid int) {
	_ = writeMem(t.tid, at, []byte{byte(tid), byte(tid >> 8), byte(tid >> 16), byte(tid >> 24)})
}

// execed is the moment after an execve(2) that succeeded: the old program is gone, and so are
// the other threads, and the descriptors with O_CLOEXEC.
func (t *thread) execed() {
	p := t.p
	if msg, err := unix.PtraceGetEventMsg(t.tid); err == nil && int(msg) != t.tid {
		// Another thread than the leader has done it, and has the leader's id now.
		if by := t.r.threads[int(msg)]; by != nil {
			t.r.dropThread(t)
			delete(t.r.threads, by.tid)
			by.tid = t.tid
			t.r.threads[by.tid] = by
			by.forget()
			if t.r.cur == t {
				t.r.cur = by
			}
			t = by
		}
	}
	for _, o := range slices.Clone(p.threads) {
		if o != t {
			t.r.dropThread(o)
		}
	}
	p.giveBack()
	t.r.renamed = t.r.renamed || p.parent == nil && t.r.answers > 0
	t.n, p.created, t.told, p.shellScript = 1, 1, false, nil
	t.regs, t.after, t.timed, t.letting = nil, nil, false, false
	t.title, t.starter = "", ""
	p.handlers, p.alarms = [65]uint64{}, slices.DeleteFunc(p.alarms, func(a *alarm) bool { return a.id != realTimer })
	if exe, err := os.Readlink("/proc/" + strconv.Itoa(p.real) + "/exe"); err == nil {
		p.name = filepath.Base(exe)
		t.r.executed(exe)
	}
	if p.script != "" {
		p.name, p.script = p.script, ""
	}
	p.stand, p.language = false, unknownLanguage
	if _, err := step(t.tid, unix.PTRACE_SINGLESTEP); err != nil { // out of the call, to the first instruction
		t.goOn(unix.PTRACE_CONT) // killed meanwhile
		return
	}
	if err := t.r.freshImage(t); err != nil {
		t.fault("the loaded program cannot be prepared: %v", err)
		return
	}
	t.execAsked(p.execCloses())
}

// execCloses drops the descriptors that an execve(2) has closed, and lists what the fake is to
// be told about those that are its own: first what it does not know to close, or not to close;
// then that it happens, unless it has none.
func (p *process) execCloses() []fsfake.Op {
	open := p.realDescriptors()
	var tell []fsfake.Op
	fakes := false
	for fd, d := range p.fds { // order does not matter: sorted below
		if d.fake >= 0 {
			fakes = true
			switch {
			case open[fd] && d.closes:
				tell = append(tell, fsfake.Op{Call: fsfake.CallSetfd, FD: d.fake})
			case !open[fd] && !d.closes:
				tell = append(tell, fsfake.Op{Call: fsfake.CallClose, FD: d.fake})
			}
		}
		if d.closes = false; !open[fd] {
			delete(p.fds, fd)
			if d.fake >= 0 {
				p.closing = append(p.closing, d.file)
			}
		}
	}
	slices.SortFunc(tell, func(a, b fsfake.Op) int { return a.FD - b.FD })
	if fakes {
		tell = append(tell, fsfake.Op{Call: fsfake.CallExec})
	}
	return tell
}

// execAsked tells the fake of an execve(2), and lets the new program begin.
func (t *thread) execAsked(tell []fsfake.Op) {
	if len(tell) == 0 {
		t.p.closing = nil
		t.pass()
		return
	}
	t.ask(tell[0], func(fsfake.Result) { t.execAsked(tell[1:]) })
}

// realDescriptors is the set of open descriptors.
func (p *process) realDescriptors() map[int]bool {
	open := map[int]bool{}
	entries, _ := os.ReadDir("/proc/" + strconv.Itoa(p.real) + "/fd")
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			open[n] = true
		}
	}
	return open
}

// exiting is the moment before a thread is torn down. A process that a signal ends is held
// there until its end has been answered.
func (t *thread) exiting() {
	p := t.p
	t.atExit = true
	if status, err := unix.PtraceGetEventMsg(t.tid); err == nil && !p.dying && !p.held {
		if sig := int(status & 0x7f); sig != 0 {
			p.held = true
			t.c, t.timed, t.blocked, t.exit = call{}, false, false, Exit{Signal: sig}
			t.ask(fsfake.Op{Call: fsfake.CallExit}, func(fsfake.Result) {
				t.die()
			})
			return
		}
	}
	t.answer, t.timed, t.blocked = nil, false, false
	t.bequeath()
	t.goOn(unix.PTRACE_CONT)
	t.resume() // it is going anyway: nothing that it does now can be seen
	if t.tid == p.real && len(p.threads) > 1 {
		t.state = waiting
	}
}

// die lets the last call of a process, or its teardown, go on: it never comes to user mode
// again, so it need not wait for its turn.
func (t *thread) die() {
	t.p.dying = true
	if t.atExit {
		t.bequeath()
	}
	t.pass()
	t.resume()
}

// threadGone is the end of a thread.
func (r *Run) threadGone(t *thread, ws unix.WaitStatus) {
	p := t.p
	r.dropThread(t)
	if t.tid != p.real {
		return
	}
	// The leader's end is reported when no other thread is left.
	p.gone, p.dying = true, true
	if ws.Signaled() {
		p.exit = Exit{Signal: int(ws.Signal())}
	} else if p.exit.Signal == 0 {
		p.exit = Exit{Status: ws.ExitStatus()}
	}
	for _, o := range slices.Clone(p.threads) {
		r.dropThread(o)
	}
	p.fds = nil
	p.orphan()
	r.dog.forget(p.real)
	p.giveBack()
}

// orphan gives the children of a dead process to the next of its ancestors that adopts.
func (p *process) orphan() {
	up := p.parent
	for up != nil && (up.gone || !up.adopts) {
		up = up.parent
	}
	for _, c := range p.r.procs {
		if up != nil && c.parent == p {
			c.parent, c.ppid = up, up.pid
		}
	}
}

// giveBack: a process that was made by vfork(2) has its own memory now, or none. Its parent is
// bound to stop because of that.
func (p *process) giveBack() {
	if t := p.lender; t != nil && t.state == vforking {
		t.state = running
		t.p.clock.ns = unknownClock // the child has had its own there
	}
	p.lender = nil
}

func (r *Run) dropThread(t *thread) {
	t.forget()
	delete(r.threads, t.tid)
	// A copy, for others may be going through them.
	t.p.threads = slices.DeleteFunc(slices.Clone(t.p.threads), func(o *thread) bool { return o == t })
	if r.cur == t {
		r.cur = nil
	}
}
