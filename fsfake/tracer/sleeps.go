//go:build linux && amd64

package tracer

import (
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Sleeps, and how their time comes.

func (t *thread) clockNanosleep(c *call) {
	ns, ok := t.timespec(c.args[2])
	if !ok {
		return
	}
	if c.int(1)&unix.TIMER_ABSTIME == 0 {
		t.nap(ns, c.args[3])
		return
	}
	if c.int(0) == unix.CLOCK_REALTIME {
		t.nap(ns-t.r.now-t.p.ahead, 0)
		return
	}
	t.nap(ns-t.p.monotonic(), 0)
}

// nap sleeps. When a signal ends it, what is left is written to rem.
func (t *thread) nap(ns int64, rem uint64) {
	if ns <= 0 {
		t.result(0)
		return
	}
	t.state, t.timed, t.deadline, t.rem = napping, true, t.p.mono+ns, rem
	t.expired = func() { t.result(0) }
}

// wake ends a sleep because of a signal.
func (t *thread) wake() {
	t.timed, t.expired = false, nil
	if t.rem != 0 {
		left := max(t.deadline-t.p.mono, 0)
		_ = writeMem(t.tid, t.rem, putUint64s(uint64(left/1e9), uint64(left%1e9)))
	}
	t.fail(unix.EINTR)
}

// wakeSleepers ends the sleeps for which a signal has come, and reports whether there was one. So it does for a fork:
// the kernel starts no process before the signal has been seen, and makes the call anew when its handler is over.
func (r *Run) wakeSleepers() bool {
	any := false
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.state == napping && t.signalled() {
				t.wake()
				any = true
			}
			if t.state == asking && t.op.Call == fsfake.CallFork && t.signalled() {
				t.answer = nil
				t.again()
				any = true
			}
		}
	}
	return any
}

// soonest is the wait of a process whose time comes next, or nil.
func (p *process) soonest() *Pending {
	if p.gone || p.dying || p.held {
		return nil
	}
	var first *Pending
	var at int64
	offer := func(n int, deadline, tied int64) {
		if first == nil || deadline < at {
			at = deadline
			first = &Pending{
				Task:     fsfake.Task{Pid: p.pid, N: n},
				Timer:    true,
				Op:       fsfake.Op{Call: fsfake.CallSleep, Time: max(deadline-p.mono, 0)},
				Deadline: deadline, Due: deadline == tied,
			}
		}
	}
	asks := p.asks()
	for _, t := range p.threads {
		if asks && t.isSysmon() {
			continue // see ticks
		}
		if t.timed && !t.firing && !(asks && t.idles()) {
			offer(t.n, t.deadline, t.tied)
		}
	}
	if a := p.nextAlarm(); a != nil {
		offer(0, a.deadline, a.tied)
	}
	return first
}

// fire makes the time of the soonest wait come. It passes for all processes of the run: which of their waits ends first
// is said by how long they are.
func (p *process) fire() {
	timer := p.soonest()
	p.mono += timer.Op.Time
	p.r.moved = true
	for _, q := range p.r.procs {
		if q.mono = max(q.mono, p.mono); q != p {
			q.tie(timer.Deadline)
		}
	}
	if timer.Task.N == 0 {
		p.ring(p.nextAlarm())
		return
	}
	for _, t := range p.threads {
		if t.n != timer.Task.N {
			continue
		}
		if t.state == napping {
			expired := t.expired
			t.timed, t.expired = false, nil
			expired()
			return
		}
		t.firing = true
		if err := unix.PtraceInterrupt(t.tid); err != nil && err != unix.ESRCH {
			t.fault("ptrace: %v", err)
		}
	}
}

// tie notes which waits end at a time, or before it: their time has come.
func (p *process) tie(at int64) {
	if p.r.c.AskTime { // the driver's clock says it
		return
	}
	for _, t := range p.threads {
		if t.timed && t.deadline-at < Tie {
			t.tied = t.deadline
		}
	}
	for _, a := range p.alarms {
		if a.on && a.deadline-at < Tie {
			a.tied = a.deadline
		}
	}
}

// postpone moves the ends of all waits on.
func (p *process) postpone(by int64) {
	for _, t := range p.threads {
		t.deadline, t.tied = t.deadline+by, t.tied+by
	}
	for _, a := range p.alarms {
		a.deadline, a.tied = a.deadline+by, a.tied+by
	}
}
