package bruteforce

// traps marks the states that no steps lead away from for good: each state that steps lead to
// leads back. Somebody is not finished there, and a fresh process gets through in none of
// them. It returns nil when there are none.
func (g *graph) traps() ([]bool, error) {
	// A state from which somebody comes to an end of everything is no trap, nor one from
	// which such a state can be reached: backwards from the ends.
	ends := make([]bool, len(g.nodes))
	for again := true; again; {
		again = false
		for n := range g.nodes {
			if ends[n] {
				continue
			}
			ends[n] = !g.nodes[n].left
			for _, e := range g.nodes[n].edges {
				ends[n] = ends[n] || e.slot >= 0 && (e.to == bad || ends[e.to])
			}
			again = again || ends[n]
		}
	}
	var out []bool
	for n := range g.nodes {
		if ends[n] {
			continue
		}
		trapped, err := g.trapped(n)
		if err != nil {
			return nil, err
		}
		if trapped && out == nil {
			out = make([]bool, len(g.nodes))
		}
		if trapped {
			out[n] = true
		}
	}
	return out, nil
}

// trapped reports whether every state that steps lead to from one leads back to it, and is a
// wedge.
func (g *graph) trapped(n int) (bool, error) {
	all := g.reached(n)
	for m := range all { // order does not matter: it asks for all
		if !g.reached(m)[n] {
			return false, nil
		}
	}
	for m := range all { // order does not matter: it asks for all
		if wedged, err := g.space.wedged(g.states[m].m.Clone()); err != nil || !wedged {
			return false, err
		}
	}
	return true, nil
}

// reached is the set of states that steps lead to.
func (g *graph) reached(n int) map[int]bool {
	seen := map[int]bool{n: true}
	for todo := []int{n}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, e := range g.nodes[at].edges {
			if e.slot >= 0 && e.to != bad && !seen[e.to] {
				seen[e.to] = true
				todo = append(todo, e.to)
			}
		}
	}
	return seen
}
