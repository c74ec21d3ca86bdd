package checker

import (
	"errors"
	"fmt"

	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Replayed is what one given schedule came to.
type Replayed struct {
	// Broken: the schedule breaks the property; Counterexample is then the evidence.
	Broken bool
	// Counterexample has the trace of the run, whether it broke the property or not.
	Counterexample *trace.Counterexample
	// Finished: nothing could happen any more at the end of the schedule.
	Finished bool
	// Unasked says what was not decided of a schedule that breaks nothing otherwise; mostly it is
	// empty.
	Unasked string
}

// Replay follows a schedule strictly. It ends with the step that breaks the property;
// what the schedule says after that is not looked at. A schedule that asks for the
// impossible gives a *sched.DriftError.
//
// Where tasks sleep and somebody can see how long, the schedule may be one with sleeps that last; and
// it breaks the property only when it does so with them.
func Replay(sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule) (Replayed, error) {
	r, err := NewRunner(sc, p)
	if err != nil {
		return Replayed{}, err
	}
	return r.Replay(s)
}

// Replay is as [Replay]. What was probed in earlier runs is not probed again.
func (r *Runner) Replay(s sched.Schedule) (Replayed, error) {
	p := r.t.Property
	if err := knownTasks(r.t.Sc, s); err != nil {
		return Replayed{}, err
	}
	out, err := r.replay(s)
	in, unset := r.Lasting()
	if in == nil || unset != nil {
		return out, errors.Join(err, unset)
	}
	if err == nil && out.Broken && !p.OfCycles() && p.Question == scenarios.NoQuestion {
		out.Broken = lastsToo(in, p, out.Counterexample.Trace)
	}
	if err == nil && out.Broken {
		return out, nil
	}
	if r, err := NewRunner(in, p); err == nil {
		if slept, err := r.replay(s); err == nil && slept.Broken {
			return slept, nil
		}
	}
	return out, err
}

// replay follows a schedule with sleeps as the setting has them.
func (r *Runner) replay(s sched.Schedule) (Replayed, error) {
	sc, p := r.t.Sc, r.t.Property
	o, err := r.t.Run(sched.Replay{Schedule: s}, true)
	out := Replayed{Broken: o.Broken, Finished: o.Finished, Counterexample: r.t.Evidence(o)}
	switch {
	case out.Broken || err != nil:
	case r.t.TooLarge:
		out.Unasked = unasked
	default:
		out.Unasked = r.t.Unsaid(o)
	}
	if err != nil || !p.OfCycles() {
		return out, err
	}
	x, err := search.NewExplorer(sc, p)
	if err != nil {
		return out, err
	}
	defer x.Close()
	cycle, waits, err := x.Starves(s)
	if out.Broken = cycle > 0; out.Broken {
		r.t.Starves(out.Counterexample, cycle, waits)
	}
	return out, err
}

// unasked is what is not decided of a run after which too much can follow.
const unasked = "whether the schedule leads to where somebody goes on for ever and keeps everybody out was not decided, since too many states follow; check asks of all"

// knownTasks reports a schedule that names a task that the scenario does not have.
func knownTasks(sc *scenarios.Scenario, s sched.Schedule) error {
	for i, c := range s {
		if c.Action == sched.Stall || c.Action == sched.PowerLoss {
			continue
		}
		if c.Task.Process >= sc.Setting.Processes || c.Task.N > sc.Setting.TasksOf(c.Task.Process) {
			return fmt.Errorf("checker: step %d of the schedule names task %s, which %s does not have: its processes are A to %s",
				i+1, c.Task, sc.ID, scenarios.ProcessName(sc.Setting.Processes-1))
		}
	}
	return nil
}

// A Runner runs single schedules of one scenario and judges each by one property. What
// it has judged it remembers, so that many runs are cheap. It is not safe for
// concurrent use.
type Runner struct{ t *search.Tester }

// A Ran is what one run came to. With Broken its schedule ends with the step that broke the property; its trace and its
// history are there when they were asked for.
type Ran = search.Outcome

// NewRunner returns a Runner. The error is a fault of the scenario, or an unknown
// property.
func NewRunner(sc *scenarios.Scenario, p *scenarios.Property) (*Runner, error) {
	t, err := search.NewTester(sc, p)
	if err != nil {
		return nil, err
	}
	return &Runner{t}, nil
}

// Run makes one run under st; with keep the trace and the history are kept. The error
// is what the strategy returned (a drift, say), or a fault of the scenario.
func (r *Runner) Run(st sched.Strategy, keep bool) (Ran, error) { return r.t.Run(st, keep) }

// Lacking returns nil when the runs so far showed what must be seen before the property
// can be said to hold (scenarios.Evidence), and otherwise an [ErrNothingToJudge] that says
// what is missing: then it proves even less that they broke nothing.
func (r *Runner) Lacking() error { return r.t.Lacking() }

// Lasting returns the scenario with sleeps that last, when in the runs so far tasks slept and
// somebody could see how long: runs are to be made in that one then. Otherwise it is nil.
func (r *Runner) Lasting() (*scenarios.Scenario, error) { return lasting(r.t.Sc, r.t.Observed()) }

// Shrink makes a schedule that breaks the property smaller: fewer faults, then fewer
// preemptions, then fewer steps, to a local minimum. A schedule that does not break it
// is an error.
func (r *Runner) Shrink(s sched.Schedule) (sched.Schedule, error) {
	o, err := r.t.Run(sched.Replay{Schedule: s}, false)
	if err != nil {
		return nil, err
	}
	if !o.Broken {
		return nil, fmt.Errorf("checker: %s: schedule %q does not break %s", r.t.Sc.ID, s, r.t.Property)
	}
	o, err = r.t.Shrink(o)
	return o.Schedule, err
}
