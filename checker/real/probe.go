//go:build linux

package real

import (
	"cmp"
	"fmt"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// probeAttempts and probeCalls bound the probe. Without a bound, between attempts and when the program
// sleeps, the virtual clock moves by as much as has passed, so that after this many every
// rule about ages has been met with.
const (
	probeAttempts = 64
	probeCalls    = 2000
)

// wedged has fresh processes try to get through on the real disk, as the fake's verdict
// says that none ever does.
func (r *run) wedged() (bool, error) {
	r.fake = r.fake.Clone()
	r.fake.EndSleeps() // whoever probes moves the clock
	start := r.fake.Now()
	for n := range probeAttempts {
		late := r.over(start, 1)
		p := &probe{run: r, id: fsfake.Task{Pid: scenarios.ProbePid + n, N: 1}, start: start}
		err := p.attempt()
		switch {
		case err != nil || r.lost || p.through:
			return false, err
		case p.blocked || late || r.property.Within > 0 && r.over(start, 1):
			return true, nil
		}
		r.pass(start, time.Second)
	}
	return true, nil
}

// over reports whether the time in which a fresh process is to get through has passed so many times.
func (r *run) over(start time.Time, times time.Duration) bool {
	return r.fake.Now().Sub(start) > times*cmp.Or(r.property.Within, scenarios.Horizon)
}

// parts is into how many parts a bound is divided. It is less than for the fake's verdict: real calls
// take longer.
const parts = 32

// pass moves the clock as the fake's verdict does (package engine, probe.go).
func (r *run) pass(start time.Time, d time.Duration) {
	passed := r.fake.Now().Sub(start)
	if within := r.property.Within; within > 0 {
		r.move(max(1, min(within/parts, within-passed+1)))
		return
	}
	r.move(max(d, passed, time.Millisecond))
}

func (r *run) move(d time.Duration) {
	r.fake.Advance(d)
	r.report.Emulated["clock"]++
}

// A probe is one fresh process, whose calls are made on the fake and on the real kernel.
type probe struct {
	*run
	id               fsfake.Task
	start            time.Time
	calls            int
	through, blocked bool
	err              error
}

// probeEnd ends an attempt that is decided.
type probeEnd struct{}

func (p *probe) end(blocked bool, err error) {
	p.blocked, p.err = blocked, err
	panic(probeEnd{})
}

func (p *probe) attempt() (err error) {
	pid := p.id.Pid
	p.fake.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Start: int64(pid), Cwd: "/"})
	if err := p.real.AddProc(fsfake.ProcSpec{Pid: pid, Cwd: "/"}); err != nil {
		return err
	}
	p.now = sched.Task{Process: pid - scenarios.Pid(0), N: 1} // beyond all processes
	defer func() {
		if e := recover(); e != nil && e != any(probeEnd{}) {
			panic(e)
		}
		p.fake.KillProc(pid)
		err = cmp.Or(p.err, p.real.KillProc(pid))
	}()
	t := &scenarios.Task{Proc: fsfake.NewProc(p, pid, 1), Process: "fresh", Index: p.sc.Setting.Processes}
	p.through = p.sc.Probe(t) == nil
	return nil
}

// Note implements [fsfake.Port]: between the rounds of a loop time passes.
func (p *probe) Note(v any) {
	if top, ok := v.(fsfake.RoundTop); !ok || top.First {
		return
	}
	if p.over(p.start, 2) || p.property.Within > 0 && p.over(p.start, 1) {
		p.end(true, nil)
	}
	p.pass(p.start, time.Second)
}

// Do implements [fsfake.Port].
func (p *probe) Do(op fsfake.Op) fsfake.Result {
	sleeps, within := op.Call == fsfake.CallSleep, p.property.Within > 0
	if sleeps && within && p.over(p.start, 1) {
		p.end(true, nil)
	}
	if p.calls++; p.calls > probeCalls {
		p.end(false, fmt.Errorf("real: the probe of %s did not end after %d calls", p.sc.ID, probeCalls))
	}
	f := p.fake.Do(p.id, op)
	if f.Unmodelled != "" {
		p.end(false, fmt.Errorf("real: the probe of %s: %s: %s", p.sc.ID, op.Call, f.Unmodelled))
	}
	if err := p.call(p.id, op, f, ""); err != nil || p.lost {
		p.end(false, err)
	}
	switch {
	case f.Blocked:
		p.end(true, nil)
	case sleeps && within:
		p.move(max(time.Duration(op.Time), time.Millisecond))
	case sleeps:
		p.pass(p.start, time.Duration(op.Time))
	}
	return f
}
