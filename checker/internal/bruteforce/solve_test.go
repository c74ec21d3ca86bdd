package bruteforce

import (
	"fmt"

	"lockpick/scenarios"
	"lockpick/sched"
)

// An Answer is what brute force says of one property of a protocol.
type Answer struct {
	Broken bool
	// Schedule is the smallest counterexample; of a starvation, the way into its cycle.
	Schedule sched.Schedule
	// Faults (crashes and stalls), Preemptions and Steps are its cost.
	Faults, Preemptions, Steps int
	// Odds that a uniformly random scheduler breaks the property; HasOdds is false when they
	// were not computed: the property is starvation, or a component is too large.
	Odds    float64
	HasOdds bool
	// States is the size of the space.
	States int

	graph    *graph
	starving []bool
	traps    []bool // for wedge; nil for none
	ends     []bool // where there are traps: what breaks it by itself
}

// Solve answers one property of a protocol. It stores at most limit states, and fails with
// [ErrTooLarge] when there are more, with [ErrNotModelled] or with [ErrSpins].
func Solve(p *Protocol, property *scenarios.Property, limit int) (*Answer, error) {
	g, err := build(p, property, limit)
	if err != nil {
		return nil, err
	}
	a := &Answer{States: len(g.nodes), graph: g}
	if property == scenarios.Starvation {
		a.starving = g.starving()
	}
	if property.Question == scenarios.LockedOut {
		if a.traps, err = g.traps(); err != nil {
			return nil, err
		}
		for n, in := range a.traps { // whoever is in one is lost
			a.ends = append(a.ends, g.nodes[n].bad)
			g.nodes[n].bad = g.nodes[n].bad || in
		}
	}
	if property != scenarios.Starvation {
		a.Odds, a.HasOdds = g.odds()
	}
	var c cost
	a.Schedule, c, a.Broken = g.smallest(a.goal, -1)
	if e := g.nodes[0].edges; a.traps != nil && a.traps[0] && len(e) > 0 && e[0].slot >= 0 { // a run has a step
		a.Schedule, c.steps = append(a.Schedule, e[0].choice), 1
	}
	a.Faults, a.Preemptions, a.Steps = c.faults, c.preemptions, c.steps
	return a, nil
}

// goal: a state that is what is looked for.
func (a *Answer) goal(n int) bool {
	if a.starving != nil {
		return a.starving[n]
	}
	return a.graph.nodes[n].bad
}

// Within reports whether a schedule with at most so many preemptions breaks the property, not by a
// trap, which has no bound, and returns the smallest of those.
func (a *Answer) Within(preemptions int) (sched.Schedule, bool) {
	goal := a.goal
	if a.ends != nil {
		goal = func(n int) bool { return a.ends[n] }
	}
	s, _, ok := a.graph.smallest(goal, preemptions)
	at := 0
	for i, c := range s { // on the way it may come into a trap, and a fault leads out of it
		if i > 0 && a.ends != nil && a.goal(at) {
			return s[:i], ok
		}
		at, _ = a.graph.after(at, c)
	}
	return s, ok
}

// Follow says how a schedule goes: whether it breaks the property with its last choice, and
// not before. The error is a choice that was not possible.
func (a *Answer) Follow(s sched.Schedule) (bool, error) {
	at := 0
	if len(s) == 0 {
		return a.goal(at), nil
	}
	for i, c := range s {
		to, ok := a.graph.after(at, c)
		switch {
		case !ok:
			return false, fmt.Errorf("bruteforce: choice %d of %s is not possible", i+1, s)
		case to == bad || a.goal(to):
			return i == len(s)-1, nil
		}
		at = to
	}
	return false, nil
}

// Round says whether the last choices of a schedule, n of them, lead from a state back to
// itself, through states in which some task keeps trying to acquire, and neglect nobody.
func (a *Answer) Round(s sched.Schedule, n int) (bool, error) {
	at := 0
	g := a.graph
	slots := len(g.space.slots)
	start := -1
	steps, waits := make([]bool, slots), make([]bool, slots)
	tries := make([]bool, slots)
	for i := range tries {
		tries[i] = true
	}
	for i, c := range s {
		if i == len(s)-n {
			start = at
		}
		if start >= 0 {
			for k := range slots {
				waits[k] = waits[k] || !g.nodes[at].enabled[k]
				tries[k] = tries[k] && g.nodes[at].trying[k]
				steps[k] = steps[k] || c.Action == sched.Run && g.space.slotOf(c.Task) == k
			}
		}
		to, ok := g.after(at, c)
		if !ok || to == bad {
			return false, fmt.Errorf("bruteforce: choice %d of %s is not possible", i+1, s)
		}
		at = to
	}
	starves := false
	for k := range slots {
		if !steps[k] && !waits[k] {
			return false, nil
		}
		starves = starves || tries[k]
	}
	return n > 0 && at == start && starves, nil
}

// after returns where a choice leads.
func (g *graph) after(n int, c sched.Choice) (to int, ok bool) {
	for _, e := range g.nodes[n].edges {
		if e.choice == c {
			return e.to, true
		}
	}
	return 0, false
}

// Trapped reports whether no step leads out of some part of the graph in which nobody can acquire.
func (a *Answer) Trapped() bool { return a.traps != nil }
