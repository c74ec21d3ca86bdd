package checker

import (
	"context"

	"lockpick/checker/internal/graph"
	"lockpick/checker/internal/table"
	"lockpick/sched"
)

// buildGraph expands every state once more and writes the edges down, for the questions
// that need them: odds and starvation.
func (x *explorer) buildGraph(ctx context.Context, set *table.States) (*graph.Graph, error) {
	n := set.Span()
	g := graph.New(n)
	w := newWorker(x)
	var sym *symmetry
	if x.reduce {
		sym = newSymmetry(x)
	}
	for id := range n {
		if id%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		bad := false
		if set.Has(id) {
			var err error
			if bad, err = x.edges(g, w, sym, set, set.Row(id)); err != nil {
				return nil, err
			}
		}
		g.End(set.Has(id), bad)
	}
	return g, nil
}

// edges writes down the edges of one state, and reports whether the state breaks the
// property by itself.
func (x *explorer) edges(g *graph.Graph, w *worker, sym *symmetry, set *table.States, row []uint32) (bool, error) {
	if err := w.expand(row); err != nil {
		return false, err
	}
	bad, _, err := x.badEnd(w, row)
	if err != nil {
		return false, err
	}
	for i := range w.out {
		s := &w.out[i]
		if s.bad {
			g.Edge(graph.Bad, s.slot)
			continue
		}
		words := w.state(s)
		if sym != nil {
			sym.canonical(words)
		}
		at, ok := set.Find(words)
		if !ok {
			panic("checker: a successor of a visited state was not visited: this is a fault of lockpick")
		}
		g.Edge(uint32(at), s.slot)
	}
	return bad, nil
}

// starvation returns the components in which somebody starves.
func (x *explorer) starvation(g *graph.Graph, set *table.States) []graph.Starving {
	return g.Starvation(len(x.slots), func(id uint32, slot int) bool { return x.tries(set.Row(int(id)), slot) })
}

// lasso is a way into a component in which somebody starves, and once around a fair
// cycle of it. It returns the schedule, and how many of its last choices are the cycle.
func (x *explorer) lasso(g *graph.Graph, prefix sched.Schedule, start uint32, s graph.Starving) (sched.Schedule, int) {
	out := append(sched.Schedule(nil), prefix...)
	for _, slot := range g.Lap(start, s, len(x.slots)) {
		out = append(out, sched.Choice{Action: sched.Run, Task: x.slots[slot].task})
	}
	return out, len(out) - len(prefix)
}
