package search

import (
	"fmt"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/explain"
	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Path returns a schedule that breaks the property in one kind, by the way on which the exploration saw such a
// violation first. It has the fewest choices, and need not be the smallest. It takes no longer
// than to walk it.
func (x *Explorer) Path(c *Coverage, kind scenarios.Kind) (sched.Schedule, error) {
	schedule, at, err := x.along(c.rowsTo(c.seen[kind]))
	if err != nil {
		return nil, err
	}
	w := engine.NewExpander(x.Space)
	if err := w.Expand(at); err != nil {
		return nil, err
	}
	if bad, _, err := x.BadEnd(w, at); bad || err != nil {
		return schedule, err
	}
	for i := range w.Out {
		if !w.Out[i].Bad {
			continue
		}
		if is, err := x.KindOf(w.State(&w.Out[i])); err != nil || is == kind {
			return append(schedule, w.Out[i].Choice), err
		}
	}
	return nil, fmt.Errorf("checker: %s: a violation was seen after %q and is not there any more: this is a fault of "+
		"lockpick", x.Sc.ID, schedule)
}

// rowsTo are the states on the way on which a stored state was found first.
func (c *Coverage) rowsTo(id int) [][]uint32 {
	rows := [][]uint32{c.States.Row(id, nil)}
	for {
		parent, ok := c.States.Parent(id)
		if !ok {
			break
		}
		id = parent
		rows = append(rows, c.States.Row(id, nil))
	}
	slices.Reverse(rows)
	return rows
}

// along returns a schedule that leads along states, and the last of them: up to symmetry, that is
// one that the one given stands for.
func (x *Explorer) along(rows [][]uint32) (sched.Schedule, []uint32, error) {
	w := engine.NewExpander(x.Space)
	sym := engine.NewSymmetry(x.Space)
	var out sched.Schedule
	at := slices.Clone(rows[0])
	for _, row := range rows[1:] {
		if err := w.Expand(at); err != nil {
			return nil, nil, err
		}
		found := false
		for i := range w.Out {
			words := slices.Clone(w.State(&w.Out[i]))
			same := slices.Clone(words)
			sym.Canonical(same)
			if found = !w.Out[i].Bad && table.EqualWords(same, row); found {
				out, at = append(out, w.Out[i].Choice), words
				break
			}
		}
		if !found {
			return nil, nil, fmt.Errorf("checker: %s: a state that was found is not reached any more after %q: this "+
				"is a fault of lockpick", x.Sc.ID, out)
		}
	}
	return out, at, nil
}

// Counterexample replays a failing schedule and keeps everything.
func (t *Tester) Counterexample(s sched.Schedule) (*trace.Counterexample, error) {
	o, err := t.Run(sched.Replay{Schedule: s}, true)
	if err != nil {
		return nil, err
	}
	if !o.Broken {
		return nil, fmt.Errorf("checker: %s: schedule %q broke %s in the search and does not when replayed: this is "+
			"a fault of lockpick or a program that is not deterministic",
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
