package serial

import (
	"errors"
	"fmt"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
	"lockpick/sched"
)

// nobody is the process that runs while none does.
const nobody = -1

// A run is one serial run.
type run struct {
	w     *engine.World
	sc    *scenarios.Scenario
	now   int   // the process that runs, or nobody
	begun []int // in this order; who was killed before it began is among them
	dead  []int // of those, who was killed or lost with the power
	of    func(scenarios.View) outcome.Outcome
	add   func(outcome.Order)
	look  func(*fsfake.Machine) // may be nil
}

// make makes the run to its end, and adds what there is whenever one process has ended and none has begun.
func (r *run) make(d *sched.DepthFirst, m *fsfake.Machine) error {
	r.now = nobody
	d.Narrow = r.narrow
	r.w.Start(m)
	defer r.w.Stop()
	for range mostSteps {
		r.w.Look()
		if r.look != nil {
			r.look(r.w.M)
		}
		if r.now == nobody && len(r.begun) > 0 {
			r.add(outcome.Order{Ran: r.ran(), Killed: slices.Clone(r.dead), Outcome: r.of(scenarios.NewView(r.w.M))})
		}
		c, err := d.Next(&r.w.View)
		if errors.Is(err, sched.ErrEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		r.note(c)
		r.w.Apply(c, nil)
		if r.w.Err != nil {
			return r.w.Err
		}
		if r.now != nobody && r.w.Finished(r.now) {
			r.now = nobody
		}
	}
	return nil
}

// ran lists who has run. Who begins when the power is back has nothing to do while it is not lost.
func (r *run) ran() []int {
	out := slices.Clone(r.begun)
	for i := range r.sc.Setting.Processes {
		if r.sc.Setting.AfterReboot(i) && r.w.Finished(i) && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

// note notes whom a choice concerns.
func (r *run) note(c sched.Choice) {
	switch c.Action {
	case sched.Run:
		if r.now = c.Task.Process; !slices.Contains(r.begun, r.now) {
			r.begun = append(r.begun, r.now)
		}
	case sched.Kill:
		r.dies(c.Task.Process)
	case sched.PowerLoss:
		for i := range r.sc.Setting.Processes {
			if !r.sc.Setting.AfterReboot(i) && !r.w.Finished(i) {
				r.dies(i)
			}
		}
		r.now = nobody
	}
}

func (r *run) dies(process int) {
	if !slices.Contains(r.begun, process) {
		r.begun = append(r.begun, process)
	}
	r.dead = append(r.dead, process)
}

// narrow leaves the steps of the process that runs, or the first step of one that has not begun, and what may
// happen beside these.
func (r *run) narrow(_ *sched.View, options []sched.Choice) []sched.Choice {
	return slices.DeleteFunc(options, func(c sched.Choice) bool {
		switch c.Action {
		case sched.Run, sched.Kill, sched.Signal:
			if r.now == nobody {
				return slices.Contains(r.begun, c.Task.Process)
			}
			return c.Task.Process != r.now
		}
		return false
	})
}

// mostRuns is how many serial runs are made at most, and mostSteps how long one is.
const (
	mostRuns  = 10_000
	mostSteps = 10_000
)

// orders makes every serial run and lists what they leave behind, also while some processes have not begun:
// these may be some that refuse. Each is listed once. look, unless nil, is shown the machine before each step.
func orders(
	sc *scenarios.Scenario, p *scenarios.Property, base *fsfake.Machine, of func(scenarios.View) outcome.Outcome,
	look func(*fsfake.Machine),
) ([]outcome.Order, error) {
	var out []outcome.Order
	seen := map[string]bool{}
	whole := 0
	add := func(o outcome.Order) {
		if key := o.Name() + "\n" + o.Outcome.Key(nil); !seen[key] {
			seen[key] = true
			out = append(out, o)
		}
		if len(o.Ran) == sc.Setting.Processes {
			whole++
		}
	}
	w, d := engine.EmptyWorld(sc, p), &sched.DepthFirst{}
	for range mostRuns {
		r := &run{w: w, sc: sc, of: of, add: add, look: look}
		if err := r.make(d, base.Clone()); err != nil {
			return nil, err
		}
		if d.Advance() {
			continue
		}
		if whole == 0 {
			return nil, fmt.Errorf("checker: %s: no serial run ends, so there is nothing that %s could compare with: "+
				"does a process wait for another?", sc.ID, p)
		}
		return out, nil
	}
	return nil, fmt.Errorf("checker: %s: there are more than %d serial runs, which is too many for %s to compare "+
		"with: choose fewer processes, crashes or stalls", sc.ID, mostRuns, p)
}
