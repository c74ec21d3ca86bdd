package bruteforce

// starving marks the states that lie on a weakly fair cycle in which some task keeps trying
// to acquire: from any of them the schedule can go round for ever.
func (g *graph) starving() []bool {
	out := make([]bool, len(g.nodes))
	for who := range g.space.slots {
		keep := func(n int) bool { return g.nodes[n].trying[who] }
		for _, c := range g.components(keep, nil) {
			if g.fair(c) {
				for _, n := range c {
					out[n] = true
				}
			}
		}
	}
	return out
}

// fair reports whether a component has a cycle, and its walk through all of it neglects
// nobody: every task steps, or could not step somewhere. A walk through less of it would
// neglect more.
func (g *graph) fair(c []int) bool {
	inside := map[int]bool{}
	for _, n := range c {
		inside[n] = true
	}
	cycle := false
	for i := range g.space.slots {
		steps, waits := false, false
		for _, n := range c {
			waits = waits || !g.nodes[n].enabled[i]
			for _, e := range g.nodes[n].edges {
				if e.to != bad && inside[e.to] {
					cycle = true
					steps = steps || e.slot == i
				}
			}
		}
		if !steps && !waits {
			return false
		}
	}
	return cycle
}
