package search

import (
	"context"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/explain"
	"lockpick/checker/internal/graph"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A trap is a part of the graph that no step leads out of, and in which somebody is not
// finished: whoever is there polls for ever, or waits. That is a wedge when a fresh process
// does not get through from any of its states either. Real programs have no probe; all of
// theirs are to end, and so every trap is a violation of deadlock.

// FindTrap returns the smallest way into a trap that breaks the property, or nil when there
// is none. Only wedge, and deadlock of real programs, are asked so. An [EndedError] says that
// a budget ended before that was known.
func (x *Explorer) FindTrap(ctx context.Context, c *Coverage, o Limits) (*lasso, error) {
	if !x.MayTrap() {
		return nil, nil
	}
	g, err := x.BuildGraph(ctx, c, o)
	if err != nil {
		return nil, err
	}
	who, waits, err := x.traps(g, c)
	if err != nil || len(who) == 0 {
		return nil, err
	}
	out := &lasso{Waits: waits}
	start, err := x.into(ctx, c, o, who, out)
	if err != nil {
		return nil, err
	}
	if len(out.Schedule) == 0 { // there is nothing to see of a run without a step
		if _, steps := g.Edges(uint32(start)); len(steps) > 0 && steps[0] >= 0 {
			out.Schedule = append(out.Schedule, sched.Choice{Action: sched.Run, Task: x.Slots[steps[0]].Task})
		}
	}
	return out, nil
}

// MayTrap reports whether the property is broken by traps, and there may be any in what was
// explored: that takes the whole graph.
func (x *Explorer) MayTrap() bool { return x.asksForTraps() && x.Repeats() }

// asksForTraps reports whether the property is broken by traps.
func (x *Explorer) asksForTraps() bool {
	return x.Property.Question == scenarios.LockedOut || x.Property.Question == scenarios.Stuck && x.Sc.External
}

// traps returns the states in traps that break the property, and what a fresh process waits
// for in one.
func (x *Explorer) traps(g *graph.Graph, c *Coverage) (who map[uint32]int, waits []trace.Wait, err error) {
	w := engine.NewExpander(x.Space)
	who = map[uint32]int{}
	n := 0
	g.Closed(func(states []uint32) {
		if err != nil {
			return
		}
		for _, id := range states {
			row := c.States.Row(int(id))
			if err = w.Expand(row); err != nil || !w.Unfinished() {
				return
			}
			if x.Property.Question != scenarios.LockedOut {
				continue
			}
			var wedged bool
			var waitsHere []trace.Wait
			if wedged, waitsHere, err = x.LockedOut(row); err != nil || !wedged {
				return
			}
			waits = waitsHere
		}
		for _, id := range states {
			who[id] = n
		}
		n++
	})
	return who, waits, err
}

// Trapped reports whether a schedule ends in a trap that breaks the property, and what a
// fresh process waits for there.
func (x *Explorer) Trapped(ctx context.Context, s sched.Schedule) (bool, []trace.Wait, error) {
	if !x.asksForTraps() {
		return false, nil, nil
	}
	rows, err := x.follow(s)
	if err != nil {
		return false, nil, err
	}
	end := rows[len(rows)-1]
	o := Limits{States: trapStates}
	c, err := x.Explore(ctx, o, end)
	if err != nil || !c.Complete {
		return false, nil, err
	}
	g, err := x.BuildGraph(ctx, c, o)
	if err != nil {
		return false, nil, err
	}
	who, waits, err := x.traps(g, c)
	at, ok := c.States.Find(end)
	_, in := who[uint32(at)]
	return ok && in, waits, err
}

// trapStates bounds what is explored from the end of a schedule that is replayed.
const trapStates = 200_000

// Trapped makes a counterexample of a run that ends in a trap.
func (t *Tester) Trapped(cx *trace.Counterexample, waits []trace.Wait) error {
	cx.Waits = waits
	end := t.base
	if n := len(cx.Trace); n > 0 {
		end = cx.Trace[n-1].After
	}
	var err error
	cx.Said = "whoever is left goes on for ever, and nobody can ever end"
	if t.Property.Question == scenarios.LockedOut {
		cx.Said = "whoever is left goes on for ever in vain, and nobody can ever acquire again"
		cx.Attempt, err = t.prober.Attempted(end)
	}
	explain.Explain(t.Sc, cx)
	return err
}
