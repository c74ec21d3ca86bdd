package checker

import "context"

// A graph is an explored space with its edges written out, for the questions that need
// them: odds and starvation.
type graph struct {
	x     *explorer
	set   *stateSet
	first []uint32 // edges of state i are first[i] to first[i+1]
	to    []uint32 // state, or toBad
	slot  []int8   // who stepped, or -1 for a crash or a stall
	bad   []bool   // states that break the property by themselves
}

// toBad is where transitions lead that break the property.
const toBad = ^uint32(0)

// buildGraph expands every state once more and writes the edges down.
func (x *explorer) buildGraph(ctx context.Context, set *stateSet) (*graph, error) {
	n := set.span()
	g := &graph{x: x, set: set, first: make([]uint32, 1, n+1), bad: make([]bool, n)}
	w := newWorker(x)
	var sym *symmetry
	if x.reduce {
		sym = newSymmetry(x)
	}
	for id := range n {
		if id%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if set.has(id) {
			if err := g.addState(w, sym, id); err != nil {
				return nil, err
			}
		}
		g.first = append(g.first, uint32(len(g.to)))
	}
	return g, nil
}

func (g *graph) addState(w *worker, sym *symmetry, id int) error {
	row := g.set.row(id)
	if err := w.expand(row); err != nil {
		return err
	}
	bad, _, err := g.x.badEnd(w, row)
	if err != nil {
		return err
	}
	g.bad[id] = bad
	for i := range w.out {
		s := &w.out[i]
		to := toBad
		if !s.bad {
			words := w.state(s)
			if sym != nil {
				sym.canonical(words)
			}
			at, ok := g.set.find(words)
			if !ok {
				panic("checker: a successor of a visited state was not visited: this is a fault of lockpick")
			}
			to = uint32(at)
		}
		g.to = append(g.to, to)
		g.slot = append(g.slot, int8(s.slot))
	}
	return nil
}

// edges returns where the edges of a state lead, and whose steps they are.
func (g *graph) edges(id uint32) (to []uint32, slot []int8) {
	a, b := g.first[id], g.first[id+1]
	return g.to[a:b], g.slot[a:b]
}

// len is the number of states.
func (g *graph) len() int { return len(g.first) - 1 }

// components returns the strongly connected components of the part of the graph in
// which keep is true of a state and follow of an edge, in reverse topological order: a
// component comes after those that it leads to. (Tarjan 1972, without recursion.)
func (g *graph) components(keep func(uint32) bool, follow func(from uint32, edge int) bool, visit func([]uint32)) {
	n := g.len()
	t := &tarjan{g: g, index: make([]uint32, n), low: make([]uint32, n), on: make([]bool, n), keep: keep, follow: follow, visit: visit}
	for id := range uint32(n) {
		if t.index[id] == 0 && g.set.has(int(id)) && keep(id) {
			t.run(id)
		}
	}
}

type tarjan struct {
	g          *graph
	index, low []uint32
	on         []bool
	stack      []uint32
	calls      []frame
	count      uint32
	keep       func(uint32) bool
	follow     func(uint32, int) bool
	visit      func([]uint32)
}

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
		to, _ := t.g.edges(id)
		opened := false
		for f.next < len(to) {
			e := f.next
			f.next++
			v := to[e]
			if v == toBad || !t.follow(id, e) || !t.keep(v) {
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
