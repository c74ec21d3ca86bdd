//go:build linux && amd64

package tracer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Signals that arrive.

// sigaction notes which handlers want interrupted calls to be made again.
func (t *thread) sigaction(c *call) {
	if sig := c.int(0); sig > 0 && sig <= 64 {
		if b, err := readFull(t.tid, c.args[1], 16); err == nil {
			flags := binary.LittleEndian.Uint64(b[8:])
			t.passThen(func(ret int64) {
				if ret == 0 {
					t.p.handlers[sig] = flags
				}
			})
			return
		}
	}
	t.pass()
}

// signals are sets of signals, by bit; signal 1 is bit 0.
type signals struct{ own, shared, blocked, ignored, caught uint64 }

// signals reads /proc.
func (t *thread) signals() (s signals) {
	f, err := os.Open("/proc/" + strconv.Itoa(t.p.real) + "/task/" + strconv.Itoa(t.tid) + "/status")
	if err != nil {
		return s
	}
	defer f.Close()
	fields := map[string]*uint64{"SigPnd": &s.own, "ShdPnd": &s.shared, "SigBlk": &s.blocked, "SigIgn": &s.ignored, "SigCgt": &s.caught}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, v, ok := strings.Cut(lines.Text(), ":\t"); ok && fields[name] != nil {
			*fields[name], _ = strconv.ParseUint(v, 16, 64)
		}
	}
	return s
}

// byDefaultIgnored are the signals that do nothing unless they are caught.
const byDefaultIgnored = 1<<(unix.SIGCHLD-1) | 1<<(unix.SIGURG-1) | 1<<(unix.SIGWINCH-1) | 1<<(unix.SIGCONT-1)

// early reports whether a signal has come that ends a process, and may have come before that has blocked it: the
// process has only been forked. A shell blocks all while it starts a program.
func (t *thread) early() bool {
	if !t.p.fresh {
		return false
	}
	s := t.signals()
	return (s.own|s.shared)&s.blocked&^t.p.born&^s.ignored&^s.caught&^byDefaultIgnored != 0
}

// arrived returns a signal that interrupts what the thread waits for, or 0. It ends the process unless it is caught.
func (t *thread) arrived() (sig int, caught bool) {
	s := t.signals()
	set := (s.own | s.shared) &^ s.blocked &^ s.ignored &^ (byDefaultIgnored &^ s.caught)
	if set == 0 {
		return 0, false
	}
	sig = bits.TrailingZeros64(set) + 1
	return sig, s.caught&(1<<(sig-1)) != 0
}

func (t *thread) signalled() bool {
	sig, _ := t.arrived()
	return sig != 0
}

// interrupted reports whether a signal of its own run has come for what is asked. It ends a call that waits; of a lock
// call that was not told that it waits, only the process. Other calls are made before the signal comes, which is as if
// it had been sent after them; it may also come before the first call of a process, or before a lock is waited for.
func (t *thread) interrupted() (ends, comes bool) {
	locks := t.op.MayBlock() && t.op.Call.Is(fsfake.Locks|fsfake.Passes)
	if t.state != asking || !t.blocked && !locks && (!t.p.fresh || t.op.MayBlock() || t.begun()) {
		return false, false
	}
	sig, caught := t.arrived()
	ends = sig != 0 && (t.blocked || locks && !caught)
	return ends, sig != 0 && !ends || t.early()
}

// begun reports whether a call has done a part of what it does, or is the end of an execve(2) or of a thread.
func (t *thread) begun() bool {
	loaded := t.op.Call == fsfake.CallExec || t.op.Call == fsfake.CallSetfd || t.op.Call == fsfake.CallClose
	executes := t.c.nr == unix.SYS_EXECVE || t.c.nr == unix.SYS_EXECVEAT
	return t.atExit || t.asks > 1 || executes && loaded
}

// restarts reports whether the handler of the signal that has come wants the call to be made
// again.
func (t *thread) restarts() bool {
	const saRestart = 0x10000000
	sig, _ := t.arrived()
	return sig != 0 && t.p.handlers[sig]&saRestart != 0
}

// Signal has a signal of another run come for a process, at rest: the answer to a call of the run was that
// ([fsfake.Signalled]), and that call is still to be answered unless it is made anew. For a process that has ended it
// does nothing.
func (r *Run) Signal(s fsfake.Signalled) (err error) {
	over := r.on(func() {
		p := r.process(s.Pid)
		if p == nil || p.dying || p.held {
			return
		}
		if err = unix.Kill(p.real, s.Signal); err != nil {
			err = fmt.Errorf("tracer: signal %d for process %d: %w", s.Signal, s.Pid, err)
			return
		}
		r.moved, r.apart = true, nil // it may wait no more
		for _, t := range p.threads {
			if t.takes(s) {
				return
			}
		}
	})
	return errors.Join(err, over)
}

// Take has a signal come before the call of a task for which it has arrived ([Pending.Signalled]).
func (r *Run) Take(task fsfake.Task) error {
	return r.on(func() {
		for _, t := range r.process(task.Pid).threads {
			if t.task() == task && t.takes(fsfake.Signalled{}) {
				r.moved = true
			}
		}
	})
}

// takes lets a thread take a signal that has just come for its process, and reports whether it does. A call that it has
// asked is not made: it is made anew after what the signal does. One that has done a part of what it does, and the end
// of an execve(2), is made before.
func (t *thread) takes(s fsfake.Signalled) bool {
	sig, caught := t.arrived()
	if sig == 0 && t.early() {
		_, _ = setMask(t.tid, t.p.born) // it ends before it blocks anything
	} else if sig == 0 {
		return false
	}
	switch {
	case t.state != asking || t.begun():
	case s.Begun && t.p.pid == s.Pid && caught:
		t.blocked = true // it waited: the handler ends that, or has it made anew, as its flags say
	default:
		t.answer, t.blocked = nil, false
		t.again()
	}
	return true
}

// again makes the thread, after the handler of a signal, make its call anew.
func (t *thread) again() {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(t.tid, &regs) == nil {
		regs.Rax, regs.Orig_rax = uint64(t.c.nr), ^uint64(0)
		regs.Rip -= 2 // the syscall instruction
		_ = unix.PtraceSetRegs(t.tid, &regs)
	}
	t.pass()
}
