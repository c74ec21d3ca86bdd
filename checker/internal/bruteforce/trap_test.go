package bruteforce

// traps marks the states from which steps alone lead to no end of everything, and to no state in
// which a fresh process gets through. It returns nil when there are none.
func (g *graph) traps() ([]bool, error) {
	left := make([]bool, len(g.nodes)) // there is a way out
	for n := range g.nodes {
		left[n] = !g.nodes[n].left
		for _, e := range g.nodes[n].edges {
			left[n] = left[n] || !e.fault() && e.to == bad
		}
	}
	g.back(left)
	for n := range g.nodes {
		if left[n] {
			continue
		}
		wedged, err := g.space.wedged(g.states[n].m.Clone())
		if err != nil {
			return nil, err
		}
		left[n] = !wedged
	}
	g.back(left)
	var out []bool
	for n := range g.nodes {
		if !left[n] && out == nil {
			out = make([]bool, len(g.nodes))
		}
		if !left[n] {
			out[n] = true
		}
	}
	return out, nil
}

// back marks the states from which steps lead to one that is marked.
func (g *graph) back(marked []bool) {
	for again := true; again; {
		again = false
		for n := range g.nodes {
			if marked[n] {
				continue
			}
			for _, e := range g.nodes[n].edges {
				marked[n] = marked[n] || !e.fault() && e.to != bad && marked[e.to]
			}
			again = again || marked[n]
		}
	}
}
