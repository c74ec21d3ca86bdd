package checker

import (
	"fmt"

	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

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
