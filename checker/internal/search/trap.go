package search

import (
	"context"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/graph"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A trap is a part of the graph that no step leads out of, and in which somebody is not
// finished in every state, for ever: whoever is there polls, or waits. That is a wedge when a
// fresh process does not get through from any of its states either: no state from there on in which
// an acquisition succeeds. Real programs have no probe; all of theirs are to end, and
// so a trap is a violation of deadlock where it is entered for good, in a circle.

// FindTrap returns the smallest way into a trap that breaks the property, or to a state that
// breaks it by itself where that is smaller; or nil when there is no trap. Only wedge, and deadlock of real programs, are asked so. An [EndedError] says that
// a budget ended before that was known.
func (x *Explorer) FindTrap(ctx context.Context, c *Coverage, o Limits) (*lasso, error) {
	if !x.MayTrap() {
		return nil, nil
	}
	g, err := x.BuildGraph(ctx, c, o)
	if err != nil {
		return nil, err
	}
	who, err := x.traps(g, c)
	if err != nil || len(who) == 0 {
		return nil, err
	}
	out := &lasso{}
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

// traps returns the states in traps that break the property.
func (x *Explorer) traps(g *graph.Graph, c *Coverage) (who map[uint32]int, err error) {
	w := engine.NewExpander(x.Space)
	ends := func(id uint32) bool { // which takes a state without steps
		_, steps := g.Edges(id)
		if err != nil || slices.ContainsFunc(steps, func(slot int8) bool { return slot >= 0 }) {
			return false
		}
		if err = w.Expand(c.States.Row(int(id), nil)); err != nil {
			return false
		}
		return !w.Unfinished()
	}
	who = map[uint32]int{}
	if x.Property.Question != scenarios.LockedOut {
		g.Closed(func(states []uint32) {
			if !slices.ContainsFunc(states, ends) {
				for _, id := range states {
					who[id] = 0
				}
			}
		})
		return who, err
	}
	out := make([]bool, g.Len()) // there is a way out
	for id := range out {
		out[id] = c.States.Has(id) && ends(uint32(id))
	}
	g.MarkBack(out)
	for id := range out {
		if err == nil && !out[id] && c.States.Has(id) {
			var wedged bool
			wedged, _, err = x.LockedOut(c.States.Row(id, nil))
			out[id] = !wedged
		}
	}
	g.MarkBack(out)
	for id := range out {
		if !out[id] && c.States.Has(id) {
			who[uint32(id)] = 0
		}
	}
	return who, err
}
