package bruteforce

import (
	"errors"

	"lockpick/scenarios"
	"lockpick/sched"
)

// A graph is the space written out.
type graph struct {
	space *space
	nodes []node
	// states, for wedge: they are probed again where nobody gets away from.
	states []*state
}

// A node is a state; node 0 is the first.
type node struct {
	edges []edge
	bad   bool // the state breaks the property by itself
	left  bool // somebody is not finished
	// enabled, by slot; trying: an acquisition of the task has begun and was not answered.
	enabled, trying []bool
}

// An edge is one choice in a state.
type edge struct {
	choice sched.Choice
	to     int // bad: the choice breaks the property
	slot   int // who stepped, or -1
	slept  bool
}

// fault reports whether the choice uses up a budget: a kill, a stall, or a call that fails.
func (e *edge) fault() bool { return e.slot < 0 || e.choice.Fails != "" }

// bad is where choices lead that break the property.
const bad = -1

// ErrTooLarge is the error of [Solve] for a space with more states than it may store.
var ErrTooLarge = errors.New("bruteforce: too many states")

// build explores the space, breadth first. Choices that break the property are not followed.
func build(p *Protocol, property *scenarios.Property, limit int) (*graph, error) {
	x, first, err := newSpace(p, property)
	if err != nil {
		return nil, err
	}
	if err := x.knowSerial(first, limit); err != nil {
		return nil, err
	}
	g := &graph{space: x}
	known := map[string]int{x.key(first): 0}
	states := []*state{first}
	for i := 0; i < len(states); i++ {
		s := states[i]
		if property.Question != scenarios.LockedOut {
			states[i] = nil
		}
		n := x.describe(s)
		n.left = x.unfinished(s)
		choices := x.choices(s)
		if n.bad, err = x.badState(s, n); err != nil {
			return nil, err
		}
		for _, c := range choices {
			after, err := x.apply(s, c)
			if err != nil {
				return nil, err
			}
			e := edge{choice: c, to: bad, slot: after.slot, slept: after.slept}
			if !after.bad {
				key := x.key(after.to)
				to, ok := known[key]
				if !ok {
					to = len(states)
					known[key] = to
					states = append(states, after.to)
				}
				e.to = to
			}
			n.edges = append(n.edges, e)
		}
		g.nodes = append(g.nodes, n)
		if len(states) > limit {
			return nil, ErrTooLarge
		}
	}
	g.states = states
	return g, nil
}

// describe notes what later questions ask of a state.
func (x *space) describe(s *state) node {
	n := node{enabled: make([]bool, len(s.tasks)), trying: make([]bool, len(s.tasks))}
	for i := range s.tasks {
		n.enabled[i] = x.enabled(s, i)
		n.trying[i] = s.tasks[i].trying()
	}
	return n
}

// badState reports whether a state is a deadlock or a wedge, when that is the question.
func (x *space) badState(s *state, n node) (bool, error) {
	switch x.property.Question {
	case scenarios.Stuck:
		for _, on := range n.enabled {
			if on {
				return false, nil
			}
		}
		return x.unfinished(s), nil
	case scenarios.LockedOut:
		if x.unfinished(s) {
			return false, nil
		}
		return x.wedged(s.m.Clone())
	case scenarios.Leaves:
		return !x.unfinished(s) && s.crashes == x.p.Crashes && x.litter(s.m), nil
	}
	return false, nil
}
