package graph

import "context"

// A Graph is states, numbered from 0, and the edges between them: each a step of a task,
// or a fault. It is written state by state: Edge for every edge of a state, and then End.
type Graph struct {
	first   []uint32 // edges of state i are first[i] to first[i+1]
	to      []uint32 // state, or Bad
	slot    []int8   // who stepped, or -1 for a crash or a stall
	bad     []bool   // states that break the property by themselves
	present []bool   // numbers that a state has
}

// Bad is where edges lead that break the property.
const Bad = ^uint32(0)

// Bytes is what a graph of so many states and edges takes, with the search for its components
// and its odds.
func Bytes(states, edges int) int { return states*(4+1+1+8+1+8+16+4) + edges*(4+1) }

// New returns an empty graph with room for n states.
func New(n int) *Graph {
	return &Graph{first: make([]uint32, 1, n+1), bad: make([]bool, 0, n), present: make([]bool, 0, n)}
}

// Edge adds an edge of the next state: where it leads, and whose step it is, or -1.
func (g *Graph) Edge(to uint32, slot int) {
	g.to = append(g.to, to)
	g.slot = append(g.slot, int8(slot))
}

// End adds the next state. Bad says whether it breaks the property by itself; a number
// that is not present stands for no state.
func (g *Graph) End(present, bad bool) {
	g.first = append(g.first, uint32(len(g.to)))
	g.present = append(g.present, present)
	g.bad = append(g.bad, bad)
}

// Break has a state break the property by itself.
func (g *Graph) Break(id uint32) { g.bad[id] = true }

// Edges returns where the edges of a state lead, and whose steps they are.
func (g *Graph) Edges(id uint32) (to []uint32, slot []int8) {
	a, b := g.first[id], g.first[id+1]
	return g.to[a:b], g.slot[a:b]
}

// Len is the number of states, numbers that no state has included.
func (g *Graph) Len() int { return len(g.first) - 1 }

// Components visits the strongly connected components of the part of the graph in
// which keep is true of a state and follow of an edge, in reverse topological order: a
// component comes after those that it leads to. (Tarjan 1972, without recursion.)
func (g *Graph) Components(keep func(uint32) bool, follow func(from uint32, edge int) bool, visit func([]uint32)) {
	n := g.Len()
	t := &tarjan{g: g, index: make([]uint32, n), low: make([]uint32, n), on: make([]bool, n), keep: keep,
		follow: follow, visit: visit}
	for id := range uint32(n) {
		if t.index[id] == 0 && g.present[id] && keep(id) {
			t.run(id)
		}
	}
}

// A tarjan is one run of the algorithm.
type tarjan struct {
	g          *Graph
	index, low []uint32
	on         []bool
	stack      []uint32
	calls      []frame
	count      uint32
	keep       func(uint32) bool
	follow     func(uint32, int) bool
	visit      func([]uint32)
}

// A frame stands for a call of the recursion that there is not.
type frame struct {
	id   uint32
	next int
}

func (t *tarjan) open(id uint32) {
	t.count++
	t.index[id], t.low[id], t.on[id] = t.count, t.count, true
	t.stack = append(t.stack, id)
	t.calls = append(t.calls, frame{id: id})
}

func (t *tarjan) run(root uint32) {
	t.open(root)
	for len(t.calls) > 0 {
		f := &t.calls[len(t.calls)-1]
		id := f.id
		to, _ := t.g.Edges(id)
		opened := false
		for f.next < len(to) {
			e := f.next
			f.next++
			v := to[e]
			if v == Bad || !t.follow(id, e) || !t.keep(v) {
				continue
			}
			if t.index[v] == 0 {
				t.open(v)
				opened = true
				break
			}
			if t.on[v] {
				t.low[id] = min(t.low[id], t.index[v])
			}
		}
		if opened {
			continue
		}
		t.calls = t.calls[:len(t.calls)-1]
		if len(t.calls) > 0 {
			p := t.calls[len(t.calls)-1].id
			t.low[p] = min(t.low[p], t.low[id])
		}
		if t.low[id] == t.index[id] {
			at := len(t.stack) - 1
			for t.stack[at] != id {
				at--
			}
			for _, v := range t.stack[at:] {
				t.on[v] = false
			}
			t.visit(t.stack[at:])
			t.stack = t.stack[:at]
		}
	}
}

// Closed visits the parts of the graph that no step leads out of, whatever faults may: each
// is a strongly connected component. A state in which nobody can step is one by itself. States that are not kept, and
// steps to them, are left out.
func (g *Graph) Closed(keep func(uint32) bool, visit func(states []uint32)) {
	step := func(from uint32, edge int) bool {
		_, who := g.Edges(from)
		return who[edge] >= 0
	}
	in := make([]uint32, g.Len()) // by state: its component, from 1
	n := uint32(0)
	g.Components(keep, step, func(c []uint32) {
		n++
		for _, id := range c {
			in[id] = n
		}
		for _, id := range c {
			to, who := g.Edges(id)
			for e, v := range to {
				if who[e] >= 0 && (v == Bad || in[v] != n && keep(v)) {
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
