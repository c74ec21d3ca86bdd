package graph

// Closed visits the parts of the graph that no step leads out of, whatever faults may: each
// is a strongly connected component. A state in which nobody can step is one by itself.
func (g *Graph) Closed(visit func(states []uint32)) {
	step := func(from uint32, edge int) bool {
		_, who := g.Edges(from)
		return who[edge] >= 0
	}
	in := make([]uint32, g.Len()) // by state: its component, from 1
	n := uint32(0)
	g.Components(func(uint32) bool { return true }, step, func(c []uint32) {
		n++
		for _, id := range c {
			in[id] = n
		}
		for _, id := range c {
			to, who := g.Edges(id)
			for e, v := range to {
				if who[e] >= 0 && (v == Bad || in[v] != n) {
					return
				}
			}
		}
		visit(c)
	})
}
