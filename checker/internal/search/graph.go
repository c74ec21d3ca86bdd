package search

import (
	"context"
	"fmt"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/graph"
	"lockpick/scenarios"
	"lockpick/sched"
)

// BuildGraph expands every state once more and writes the edges down: for odds, starvation, counts.
// Of a space left early it has the levels that were expanded in full. The error may be a budget's end.
func (x *Explorer) BuildGraph(ctx context.Context, c *Coverage, o Limits) (*graph.Graph, error) {
	set := c.States
	n := set.Span()
	if need := graph.Bytes(n, c.Transitions); x.Bytes(set)+need > o.bytes() {
		return nil, &EndedError{Why: fmt.Sprintf("the graph takes %d MiB more, and the budget is %d "+
			"MiB", need>>20, o.bytes()>>20)}
	}
	g := graph.New(n)
	w := engine.NewExpander(x.Space)
	sym := engine.NewSymmetry(x.Space)
	level := set.Levels()
	var row []uint32
	for id := range n {
		if id%4096 == 0 && ctx.Err() != nil {
			return nil, stopped(ctx.Err())
		}
		bad := false
		if set.Has(id) && (c.Complete || level(id) < c.Depth) {
			var err error
			row = set.Row(id, row)
			if bad, err = x.edges(g, w, sym, c, id, row); err != nil {
				return nil, err
			}
		}
		g.End(set.Has(id), bad)
	}
	return g, nil
}

// edges writes down the edges of one state, and reports whether the state breaks the
// property by itself.
func (x *Explorer) edges(g *graph.Graph, w *engine.Expander, sym *engine.Symmetry, c *Coverage, id int,
	row []uint32) (bool, error) {
	var err error
	if slot := c.onlyStep(id); slot >= 0 {
		_, err = w.ExpandAlone(row, slot)
	} else {
		err = w.Expand(row)
	}
	if err != nil {
		return false, err
	}
	bad, _, err := x.BadEnd(w, row)
	if err != nil {
		return false, err
	}
	for i := range w.Out {
		s := &w.Out[i]
		if s.Bad {
			g.Edge(graph.Bad, s.Stepper())
			continue
		}
		words := w.State(s)
		sym.Canonical(words)
		at, ok := c.States.Find(words)
		if !ok {
			panic("checker: a successor of a visited state was not visited: this is a fault of lockpick")
		}
		g.Edge(uint32(at), s.Stepper())
	}
	return bad, nil
}

// Schedules is how many schedules the graph stands for, at least; see [graph.Graph.Schedules].
func (x *Explorer) Schedules(ctx context.Context, c *Coverage, o Limits) (float64, error) {
	g, err := x.BuildGraph(ctx, c, o)
	if err != nil {
		return 0, err
	}
	start, _ := c.States.Find(x.Initial)
	return g.Schedules(ctx, uint32(start))
}

// Odds is what is known of the probability that a uniformly random scheduler hits the
// violation. The error says that a budget ended first.
func (x *Explorer) Odds(ctx context.Context, c *Coverage, o Limits) (graph.Odds, error) {
	g, err := x.BuildGraph(ctx, c, o)
	if err != nil {
		return graph.Odds{}, err
	}
	if x.MayTrap() { // whoever comes into a trap is lost, whatever comes after
		who, err := x.traps(g, c)
		if err != nil {
			return graph.Odds{}, err
		}
		for id := range who { // order does not matter: each is marked
			g.Break(id)
		}
	}
	start, _ := c.States.Find(x.Initial)
	odds, err := g.Odds(ctx, uint32(start))
	if err != nil {
		err = stopped(err)
	}
	return odds, err
}

// onlyStep is whose step was followed alone from a state; -1 where all were.
func (c *Coverage) onlyStep(id int) int {
	if id < len(c.alone) {
		return int(c.alone[id]) - 1
	}
	return -1
}

// A trap is a part of the graph that no step leads out of, and in which somebody is not
// finished in every state, for ever: whoever is there polls, or waits. That is a wedge when a
// fresh process does not get through from any of its states either: no state from there on in which
// an acquisition succeeds. Real programs have no probe; all of theirs are to end, and
// so a trap is a violation of deadlock where it is entered for good, in a circle.

// FindTrap returns the smallest way into a trap that breaks the property, or to a state that breaks it by itself where
// that is smaller; or nil when there is no trap. Only wedge, and deadlock of real programs, are asked so. An
// [EndedError] says that a budget ended before that was known.
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
	lasts := x.outlastsWaits(w, g, c)
	who = map[uint32]int{}
	if x.Property.Question != scenarios.LockedOut {
		g.Closed(func(id uint32) bool { return lasts == nil || lasts[id] }, func(states []uint32) {
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
		if !out[id] && c.States.Has(id) && (lasts == nil || lasts[id]) {
			who[uint32(id)] = 0
		}
	}
	return who, err
}

// outlastsWaits marks the states that say what comes in the end: all, which is nil, but those in which somebody waits
// while a timer runs ([engine.Expander.InTime]) from then on, whatever others do. In these the timer goes off. So they
// end nothing, and are no way out of a trap either.
func (x *Explorer) outlastsWaits(w *engine.Expander, g *graph.Graph, c *Coverage) []bool {
	if !x.TimedWait() {
		return nil
	}
	out := make([]bool, g.Len())
	for id := range out {
		out[id] = !c.States.Has(id) || !w.InTime(c.States.Row(id, nil))
	}
	g.MarkBack(out)
	return out
}
