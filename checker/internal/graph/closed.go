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

// MarkBack marks the states from which steps lead to one that is marked, whatever faults may. A
// step that breaks the property counts as one that leads there.
func (g *Graph) MarkBack(marked []bool) {
	for again := true; again; { // most states come after those that lead to them
		again = false
		for id := g.Len() - 1; id >= 0; id-- {
			if marked[id] {
				continue
			}
			to, who := g.Edges(uint32(id))
			for e, v := range to {
				marked[id] = marked[id] || who[e] >= 0 && (v == Bad || marked[v])
			}
			again = again || marked[id]
		}
	}
}
