package search

import (
	"context"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/graph"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/serial"
	"lockpick/scenarios"
)

// An Explorer covers a space.
type Explorer struct {
	*engine.Space
	// Tried is what need not be tried out again of the programs.
	Tried *learn.Tried
	// Believes: no program is run once more, nor its rounds tried out. It is for tests that compare
	// explorations with each other, of programs whose promises are kept as other tests have seen.
	Believes bool
}

// NewExplorer returns an explorer of the space of a scenario for one property.
func NewExplorer(sc *scenarios.Scenario, p *scenarios.Property) (*Explorer, error) {
	p, err := serial.Bind(sc, p)
	if err != nil {
		return nil, err
	}
	s, err := engine.NewSpace(sc, p)
	if err != nil {
		return nil, err
	}
	return &Explorer{Space: s, Tried: &learn.Tried{}}, nil
}

// tryRounds tries out that rounds of polling carry nothing over, in a space that was covered and in which
// nothing is broken.
func (x *Explorer) tryRounds(ctx context.Context, c *Coverage) error {
	g, err := x.BuildGraph(ctx, c, Limits{})
	if err != nil {
		return err
	}
	later := make([]map[uint32]map[uint32]bool, len(x.Slots))
	for i := range later {
		later[i] = map[uint32]map[uint32]bool{}
	}
	return x.TryRounds(ctx, func(slot int, was, is uint32) bool {
		known := later[slot]
		if known[was] == nil {
			known[was] = x.nodesAfter(g, c, slot, was)
		}
		return known[was][is]
	})
}

// nodesAfter are the nodes at which a task may be once it has made the step from one, whoever makes the other steps.
func (x *Explorer) nodesAfter(g *graph.Graph, c *Coverage, slot int, was uint32) map[uint32]bool {
	seen, row := make([]bool, g.Len()), make([]uint32, x.Width())
	var todo []uint32
	follow := func(id uint32, leaves bool) {
		to, whose := g.Edges(id)
		for i, n := range to {
			if (!leaves || int(whose[i]) == slot) && int(n) < len(seen) && !seen[n] {
				seen[n] = true
				todo = append(todo, n)
			}
		}
	}
	for id := range seen {
		if c.States.Has(id) && x.NodeOf(c.States.Row(id, row), slot) == was {
			follow(uint32(id), true)
		}
	}
	nodes := map[uint32]bool{}
	for len(todo) > 0 {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		nodes[x.NodeOf(c.States.Row(int(id), row), slot)] = true
		follow(id, false)
	}
	return nodes
}
