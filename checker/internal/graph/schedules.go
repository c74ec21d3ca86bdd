package graph

import "context"

// Schedules counts the schedules from a state to an end, or to where the property breaks. Where
// the graph has cycles there are infinitely many; then the number is one that there are at least:
// of the ways through a component those are counted that leave it by different edges. Numbers
// beyond 2^53 are rounded. Where the graph is a part of a space, beginnings of schedules are counted,
// each of which is that of another one. The error is that ctx ended first.
func (g *Graph) Schedules(ctx context.Context, start uint32) (float64, error) {
	ways := make([]float64, g.Len())
	component := make([]uint32, g.Len())
	looks := 0
	var err error
	g.Components(func(uint32) bool { return true }, func(from uint32, _ int) bool {
		if looks++; looks&1023 == 0 && err == nil {
			err = ctx.Err()
		}
		return !g.bad[from] && err == nil
	}, func(states []uint32) {
		for _, id := range states {
			component[id] = states[0] + 1
		}
		sum := 0.0
		for _, id := range states {
			to, _ := g.Edges(id)
			if g.bad[id] {
				to = nil
			}
			for _, v := range to {
				switch {
				case v == Bad:
					sum++
				case component[v] != component[id]:
					sum += ways[v]
				}
			}
		}
		for _, id := range states {
			ways[id] = max(sum, 1)
		}
	})
	return ways[start], err
}
