//go:build linux

package real

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
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
	start := r.fake.Now()
	for n := range probeAttempts {
		late := r.over(start, 1)
		through, blocked, err := r.probe(scenarios.ProbePid+n, start)
		switch {
		case err != nil || r.lost || through:
			return false, err
		case blocked || late || r.property.Within > 0 && r.over(start, 1):
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

// pollsAgain reports whether a retry loop has just begun another round.
func pollsAgain(a kernel.Ask) bool {
	for _, n := range a.Notes {
		if strings.HasPrefix(n, "fsfake.RoundTop{") && strings.HasSuffix(n, "First:false}") {
			return true
		}
	}
	return false
}

// probe runs one fresh process.
func (r *run) probe(pid int, start time.Time) (through, blocked bool, err error) {
	r.fake.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Start: int64(pid), Cwd: "/"})
	if err := r.real.AddProc(fsfake.ProcSpec{Pid: pid, Cwd: "/"}); err != nil {
		return false, false, err
	}
	process := pid - scenarios.Pid(0) // beyond all processes
	t := &task{task: sched.Task{Process: process, N: 1}, id: fsfake.Task{Pid: pid, N: 1}}
	r.now = t.task
	defer func() {
		r.fake.KillProc(pid)
		if e := r.real.KillProc(pid); err == nil {
			err = e
		}
	}()
	what := name{Scenario: r.sc.ID, Processes: r.sc.Setting.Processes, Probe: pid}
	ask, err := r.real.Run(t.id, what.String())
	if err != nil {
		return false, false, err
	}
	t.take(ask)
	for range probeCalls {
		if t.ask.Ended {
			last := t.notes[len(t.notes)-1]
			return last == kernel.NoteText(probed{gotThrough: true}), false, nil
		}
		if pollsAgain(t.ask) {
			if r.over(start, 2) || r.property.Within > 0 && r.over(start, 1) {
				return false, true, nil
			}
			r.pass(start, time.Second)
		}
		op := t.ask.Op
		if op.Call == fsfake.CallSleep && r.property.Within > 0 && r.over(start, 1) {
			return false, true, nil
		}
		if err := r.call(t, op, sched.Choice{}); err != nil || r.lost {
			return false, false, err
		}
		if t.waits {
			return false, true, nil
		}
		switch {
		case op.Call != fsfake.CallSleep:
		case r.property.Within > 0:
			r.move(max(time.Duration(op.Time), time.Millisecond))
		default:
			r.pass(start, time.Duration(op.Time))
		}
	}
	return false, false, fmt.Errorf("real: the probe of %s did not end after %d calls", r.sc.ID, probeCalls)
}
