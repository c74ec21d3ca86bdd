package checker

import (
	"context"
	"fmt"

	"lockpick/scenarios"
	"lockpick/sched"
)

// An Engine is a way of covering a space of schedules.
type Engine uint8

const (
	// Graph explores the graph of merged states; see package documentation.
	Graph Engine = iota
	// Reference runs every schedule from its start, one after the other.
	Reference
)

// Options bounds an exploration. The zero value explores everything with one worker
// for each processor, up to the default budgets.
type Options struct {
	Engine Engine
	// Schedules bounds the runs of the reference engine; 0 means 200 000.
	Schedules int
	// States bounds the stored states of the graph; 0 means 50 million.
	States int
	// Bytes bounds the memory for states; 0 means 8 GiB.
	Bytes int
	// Preemptions, when not nil, leaves out schedules with more preemptions. Such a
	// search never concludes Holds unless it covered everything all the same.
	Preemptions *int
	// Workers is the number of parallel workers; 0 means one for each processor.
	Workers int
	// Odds asks for the exact odds of a violation.
	Odds bool
	// Progress, when not nil, is called now and then from one goroutine.
	Progress func(Progress)
}

// Progress is how far an exploration has come.
type Progress struct {
	Scenario    string
	Property    scenarios.Property
	States      int
	Transitions int
	Depth       int
	Frontier    int
	Bytes       int
}

const defaultSchedules = 200_000

// validate reports options that make no sense.
func (o *Options) validate() error {
	for _, b := range []struct {
		name string
		n    int
	}{{"schedules", o.Schedules}, {"states", o.States}, {"bytes", o.Bytes}, {"workers", o.Workers}} {
		if b.n < 0 {
			return fmt.Errorf("checker: a budget of %d %s: choose 1 or more, or 0 for the default", b.n, b.name)
		}
	}
	if o.Preemptions != nil && *o.Preemptions < 0 {
		return fmt.Errorf("checker: a bound of %d preemptions: choose 0 or more", *o.Preemptions)
	}
	return nil
}

// Check decides one property of a scenario. When ctx ends first, the verdict is
// Unknown with what was covered. The error is a fault of the scenario or the options,
// and then there is no verdict.
func Check(ctx context.Context, sc *scenarios.Scenario, p scenarios.Property, o Options) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	t, err := newTester(sc, p)
	if err != nil {
		return Result{}, err
	}
	var res Result
	if o.Engine == Reference {
		res, err = checkByReference(ctx, t, o)
	} else {
		res, err = checkByGraph(ctx, t, o)
	}
	if err != nil {
		return Result{}, err
	}
	res.Scenario, res.Property, res.Judgement = sc, p, p.Judgement()
	res.Claim, res.Claimed = sc.Claim(p)
	return res, nil
}

func checkByReference(ctx context.Context, t *tester, o Options) (Result, error) {
	budget := o.Schedules
	if budget == 0 {
		budget = defaultSchedules
	}
	res, first, err := searchAll(ctx, t, budget, false)
	if err != nil || first == nil {
		return res, err
	}
	best, err := t.shrink(*first)
	if err != nil {
		return res, err
	}
	res.Odds = -1
	res.Counterexample, err = t.counterexample(best.schedule)
	return res, err
}

func checkByGraph(ctx context.Context, t *tester, o Options) (Result, error) {
	res := Result{Odds: -1}
	x, err := newExplorer(t.sc, t.property)
	if err != nil {
		return res, err
	}
	c, err := x.explore(ctx, o)
	if err != nil {
		return res, err
	}
	res.Complete, res.Why = c.complete, c.why
	res.Verdict = conclude(c.violations > 0, c.complete)
	if c.violations > 0 {
		schedule, err := x.findSmallest(ctx, o)
		if err != nil {
			return res, err
		}
		if res.Counterexample, err = t.counterexample(schedule); err != nil {
			return res, err
		}
		res.Counterexample.Smallest = true
	}
	x.stats(&res.Stats)
	res.Stats.States, res.Stats.Transitions = c.states.len(), c.transitions
	res.Stats.Contended, res.Stats.Depth = c.met, c.depth
	res.Stats.Bytes = x.bytes(c.states)
	return res, nil
}

// counterexample replays a failing schedule and keeps everything.
func (t *tester) counterexample(s sched.Schedule) (*Counterexample, error) {
	o, err := t.run(sched.Replay{Schedule: s}, true)
	if err != nil {
		return nil, err
	}
	if !o.broken {
		return nil, fmt.Errorf("checker: %s: schedule %q broke %s in the search and does not when replayed: this is a fault of lockpick or a program that is not deterministic",
			t.sc.ID, s, t.property)
	}
	return &Counterexample{
		Property: t.property, Schedule: o.schedule, Cost: o.cost,
		Trace: o.trace, History: o.history, Waits: o.waits,
	}, nil
}
