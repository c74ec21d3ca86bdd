package graph

// Components visits the strongly connected components of the part of the graph in
// which keep is true of a state and follow of an edge, in reverse topological order: a
// component comes after those that it leads to. (Tarjan 1972, without recursion.)
func (g *Graph) Components(keep func(uint32) bool, follow func(from uint32, edge int) bool, visit func([]uint32)) {
	n := g.Len()
	t := &tarjan{g: g, index: make([]uint32, n), low: make([]uint32, n), on: make([]bool, n), keep: keep, follow: follow, visit: visit}
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
