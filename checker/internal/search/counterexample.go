package search

import (
	"fmt"

	"lockpick/checker/internal/explain"
	"lockpick/checker/trace"
	"lockpick/sched"
)

// Counterexample replays a failing schedule and keeps everything.
func (t *Tester) Counterexample(s sched.Schedule) (*trace.Counterexample, error) {
	o, err := t.Run(sched.Replay{Schedule: s}, true)
	if err != nil {
		return nil, err
	}
	if !o.Broken {
		return nil, fmt.Errorf("checker: %s: schedule %q broke %s in the search and does not when replayed: this is a fault of lockpick or a program that is not deterministic",
			t.Sc.ID, s, t.Property)
	}
	return t.Evidence(o), nil
}

// Trace replays a schedule for its trace, whether it breaks the property or not.
func (t *Tester) Trace(s sched.Schedule) (*trace.Counterexample, error) {
	o, err := t.Run(sched.Replay{Schedule: s}, true)
	return t.Evidence(o), err
}

// Evidence is what people get to see of a run that was kept, with its cause when it broke
// the property.
func (t *Tester) Evidence(o Outcome) *trace.Counterexample {
	cx := &trace.Counterexample{
		Property: t.Property, Schedule: o.Schedule, Kind: o.Kind, Cost: o.Cost,
		Trace: o.Trace, History: o.History, Waits: o.Waits, Attempt: o.attempt, Said: o.said,
	}
	if o.Broken {
		explain.Explain(t.Sc, cx)
	}
	return cx
}

// Starves makes a counterexample of a run that ends with a cycle in which somebody starves.
func (t *Tester) Starves(cx *trace.Counterexample, cycle int, waits []trace.Wait) {
	cx.Cycle, cx.Waits = cycle, waits
	explain.Explain(t.Sc, cx)
}
