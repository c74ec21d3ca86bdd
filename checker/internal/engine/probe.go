package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Prober asks whether a fresh process, running alone with time passing, ever gets
// through.
//
// "Never" is decided like this: the process makes attempt after attempt. Whenever it
// sleeps, polls again or gives up, the clock moves, each time by as much as has passed
// already (so any rule of the form "older than d" is met with soon), until the horizon
// is behind it; the attempt that begins after that is the last. A call that blocks, with
// nobody left to unblock it, is the end at once.
//
// "Within" is the same with that time as the horizon, but that sleeps last as long as they say, and
// rounds and attempts for a part of the time (parts) at least; that the last of them begins right behind the
// horizon; and that who sleeps, polls or gives up behind it has come too late. So a verdict
// is right to a part of the time for each round that getting through takes.
type Prober struct {
	sc *scenarios.Scenario
	// within is for how long a process may be kept out, 0 for ever; horizon is where it ends.
	within, horizon time.Duration
	seen            map[string]probed
	buf             []byte
	runs            int
	// unrolled: a loop of the probe was tried out for so many rounds as loops are.
	unrolled bool
	// asked: the attempt that was made last asked for the time, or slept.
	asked bool
	// recorded are the calls of the attempt that was made last, the last ones at least.
	recorded []trace.Call
	observed observer
	// outlived is the least that was met of the pids of this name in what was probed.
	outlived int
}

// recordedCalls is how many of the calls of an attempt are kept: more than a round of
// polling has.
const recordedCalls = 64

// record keeps a call. What is too much is dropped from time to time, for calls are large.
func (p *Prober) record(op *fsfake.Op, r *fsfake.Result) {
	if len(p.recorded) == 2*recordedCalls {
		p.recorded = p.recorded[:copy(p.recorded, p.last())]
	}
	p.recorded = append(p.recorded, trace.Call{Op: *op, Result: *r})
}

// last are the last calls of the attempt that was made last.
func (p *Prober) last() []trace.Call {
	return p.recorded[max(0, len(p.recorded)-recordedCalls):]
}

type probed struct {
	wedged bool
	waits  []trace.Wait
	// outlived is the pid of a process without a program that lives where all others have ended, which
	// says that nobody knows whether the fresh one is locked out for good; 0 when it does not matter.
	outlived int
}

// NewProber returns a prober of the machines of a scenario, for a property.
func NewProber(sc *scenarios.Scenario, p *scenarios.Property) *Prober {
	return &Prober{sc: sc, seen: map[string]probed{}, within: p.Within, horizon: cmp.Or(p.Within, scenarios.Horizon)}
}

// Probed reports whether any machine was probed. p may be nil.
func (p *Prober) Probed() bool { return p != nil && len(p.seen) > 0 }

// Wedged probes a clone of m, once for each distinct state of the machine. Where nobody can say it, since
// a process lives that has no program, it reports false, and [Prober.Outlived] says so from then on.
func (p *Prober) Wedged(m *fsfake.Machine) (bool, []trace.Wait, error) {
	p.buf = m.AppendKey(p.buf[:0])
	if r, ok := p.seen[string(p.buf)]; ok {
		return r.wedged, r.waits, nil
	}
	key := string(p.buf)
	r, err := p.probeTwice(m)
	if err == nil && r.wedged {
		if pid := p.orphan(m); pid != 0 {
			r = probed{outlived: pid}
			if p.outlived == 0 || pid < p.outlived { // whoever meets it first
				p.outlived = pid
			}
		}
	}
	if err == nil {
		p.seen[key] = r
	}
	return r.wedged, r.waits, err
}

// probeTwice probes a machine twice, and the first more often, where that is cheap: a probe that is no function of its calls gets no verdict.
func (p *Prober) probeTwice(m *fsfake.Machine) (probed, error) {
	first, unrolled := p.runs, p.unrolled
	r, err := p.probe(m.Clone())
	if err != nil {
		return r, err
	}
	attempts, calls := p.runs-first, slices.Clone(p.last())
	longer := !unrolled && p.unrolled // a loop was tried out; twice is enough for that, and the rest compares rounds that decide
	repeats := 1
	if len(p.seen) == 0 && attempts < setups && !p.sc.External { // one that counts may take a while until it does something else
		repeats = setups
	}
	for n := range repeats {
		p.unrolled = unrolled || longer && n > 0 // how far the loop is tried out the second time is to be the same, too
		again, err := p.probe(m.Clone())
		if err != nil {
			return r, err
		}
		if longer && n == 1 {
			calls = slices.Clone(p.last())
		}
		if r.wedged != again.wedged || p.runs-first != (n+2)*attempts || !slices.Equal(calls, p.last()) {
			return r, fmt.Errorf("checker: the probe of %s is not a function of its calls: on one disk it does not do the same twice; does it count, range over a map, or read time.Now?", p.sc.ID)
		}
	}
	return r, nil
}

// Attempted probes a machine that is known to be wedged once more, and returns the last calls of
// the attempt that decided. Rounds are not tried out for it: that was done for the verdict.
func (p *Prober) Attempted(m *fsfake.Machine) ([]trace.Call, error) {
	unrolled := p.unrolled
	p.unrolled = true
	_, err := p.probe(m.Clone())
	p.unrolled = unrolled
	return slices.Clone(p.last()), err
}

func (p *Prober) probe(m *fsfake.Machine) (probed, error) {
	start := m.Now()
	m.EndSleeps() // whoever probes moves the clock
	for try := 0; ; try++ {
		late, began := p.late(m, start), m.Now()
		var before []byte
		if p.sc.External { // after a process with that pid, for pids are seen
			m.AddProc(fsfake.ProcSpec{Pid: scenarios.ProbePid + try})
			m.KillProc(scenarios.ProbePid + try)
			before = m.AppendKey(nil)
		}
		r, err := p.attempt(m, start, scenarios.ProbePid+try)
		switch {
		case err != nil:
			return probed{}, err
		case r.How == 0:
			return probed{}, nil
		case late || r.How != trace.GivesUp || p.timeless(m, before) || p.within > 0 && p.late(m, start):
			return probed{wedged: true, waits: []trace.Wait{r}}, nil
		}
		rest := time.Second
		if p.sc.External { // an attempt is an execution, so they come eight times as late each time, not twice
			rest = max(rest, 7*m.Now().Sub(start))
		}
		p.pass(m, start, began, rest)
	}
}

// late reports whether the horizon is behind.
func (p *Prober) late(m *fsfake.Machine, start time.Time) bool { return m.Now().Sub(start) > p.horizon }

// timeless reports that the next attempt of a program does what the last one did, however late it
// comes: that has left everything as it was, and asked for no time.
func (p *Prober) timeless(m *fsfake.Machine, before []byte) bool {
	return p.sc.External && !p.asked && bytes.Equal(m.AppendKey(nil), before)
}

// probeSteps bounds one attempt, or a round of one; no probe comes near.
const probeSteps = 100_000

// attempt runs the probe once. It returns no wait when it got through, GivesUp when it
// returned an error, and otherwise what it waits for without end.
func (p *Prober) attempt(m *fsfake.Machine, start time.Time, pid int) (trace.Wait, error) {
	p.runs++
	p.recorded, p.asked = p.recorded[:0], false
	m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Start: int64(pid), Cwd: "/"})
	var result error
	code := learn.Probe(p.sc, func(port fsfake.Port) {
		t := &scenarios.Task{Proc: fsfake.NewProc(port, pid, 1), Process: "fresh", Index: p.sc.Setting.Processes}
		result = p.sc.Probe(t)
	})
	defer code.Stop()
	id := fsfake.Task{Pid: pid, N: 1}
	who := id
	last, slept, late, rounds, steps, began := fsfake.Op{}, false, false, 0, 0, m.Now()
	var wait trace.Wait // what hinders it, once that is known
	var r fsfake.Result
	err := learn.Follow(code, nil, func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error) {
		for _, n := range notes {
			p.observed.note(n)
			if by, ok := n.(scenarios.By); ok {
				who = by.Task
			}
			if a, ok := n.(scenarios.Asserted); ok && !a.OK {
				return nil, fmt.Errorf("checker: the probe of %s fails the assertion %q: a probe that does not get through returns an error", p.sc.ID, a.Text)
			}
			if top, ok := n.(fsfake.RoundTop); ok && !top.First {
				rounds, steps = rounds+1, 0
				over := p.late(m, start)
				if over && (p.within > 0 || late && (p.unrolled || rounds >= p.rounds())) {
					p.unrolled = true
					wait = hindered(trace.Polls, last)
					return nil, nil
				}
				if late = over; !late && (!slept || p.within > 0) {
					p.pass(m, start, began, time.Second)
				}
				began = m.Now()
				slept = false
			}
		}
		if !more {
			m.KillProc(pid)
			if result != nil {
				wait = hindered(trace.GivesUp, last)
			}
			return nil, nil
		}
		p.asked = p.asked || op.Call == fsfake.CallNow || op.Call == fsfake.CallSleep
		r = m.Do(who, *op)
		p.observed.profiled(r.Profiled(*op))
		by := who
		who = id
		p.record(op, &r)
		switch {
		case r.Unmodelled != "":
			return nil, fmt.Errorf("checker: the probe of %s: %s: %s", p.sc.ID, op.Call, r.Unmodelled)
		case r.Blocked:
			wait = hindered(trace.WaitsInCall, *op)
			wait.On, _ = m.WaitsOn(by)
			return nil, nil
		}
		switch {
		case op.Call != fsfake.CallSleep:
			last = *op
		case p.within > 0 && p.late(m, start):
			wait = hindered(trace.Polls, last)
			return nil, nil
		case p.within > 0:
			m.Advance(max(time.Duration(op.Time), time.Millisecond))
		case late:
			m.Advance(time.Second)
		default:
			p.pass(m, start, began, time.Duration(op.Time))
		}
		slept = slept || op.Call == fsfake.CallSleep
		if steps++; steps >= probeSteps {
			return nil, fmt.Errorf("checker: the probe of %s did not end after %d calls: does its loop use Retry?", p.sc.ID, probeSteps)
		}
		return &r, nil
	})
	return wait, err
}

// rounds is after how many rounds a loop of the probe is endless, unless one was tried out before.
func (p *Prober) rounds() int {
	if p.sc.External {
		return learn.ExternalRounds
	}
	return learn.UnrolledRounds
}

func hindered(how trace.Hindrance, call fsfake.Op) trace.Wait {
	return trace.Wait{How: how, Fresh: true, Call: call}
}

// parts is into how many parts the time is divided in which somebody is to get through.
const parts = 256

// pass moves the clock by d, or by as much as has passed since start. With a bound it moves it to where
// a part of the bound has passed since a round began, and not further than right behind the bound.
func (p *Prober) pass(m *fsfake.Machine, start, began time.Time, d time.Duration) {
	now := m.Now()
	if p.within > 0 {
		end := began.Add(p.within / parts)
		if last := start.Add(p.horizon + 1); end.After(last) {
			end = last
		}
		m.Advance(max(0, end.Sub(now)))
		return
	}
	m.Advance(max(d, now.Sub(start), time.Millisecond))
}
