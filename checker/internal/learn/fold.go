package learn

import "lockpick/fsfake"

// A folder guesses which nodes of an automaton are one: it takes the nodes in the order in which
// they were learned, and merges each with the first class with which it can be. To merge two
// nodes is to merge also what the same results lead to from both. The guess is greedy, which
// makes it neither right nor the smallest.
type folder struct {
	a      *Automaton
	parent []uint32 // towards the first node of a class
	out    [][]edgeKey
	log    []folded
}

// A folded is one class that became a part of another, and how many edges that had before.
type folded struct {
	class, into uint32
	edges       int
}

// A label is what is seen of a node without going on.
type label struct {
	op     fsfake.Op
	begins Effects
	open   any
}

func newFolder(a *Automaton) *folder {
	f := &folder{a: a, parent: make([]uint32, len(a.nodes)), out: make([][]edgeKey, len(a.nodes))}
	for n := range f.parent {
		f.parent[n] = uint32(n)
	}
	for _, k := range a.order {
		f.out[k.from] = append(f.out[k.from], k)
	}
	return f
}

func (f *folder) find(n uint32) uint32 {
	for f.parent[n] != n {
		n = f.parent[n]
	}
	return n
}

// guess merges what can be merged.
func (f *folder) guess() {
	classes := map[label][]uint32{}
	for n := Start + 1; n < len(f.parent); n++ {
		if f.parent[n] != uint32(n) {
			continue
		}
		nd := &f.a.nodes[n]
		l := label{nd.Op, nd.Begins, nd.Open}
		merged := false
		for _, c := range classes[l] {
			if f.parent[c] == c && f.merge(c, uint32(n)) {
				merged = true
				break
			}
		}
		if !merged {
			classes[l] = append(classes[l], uint32(n))
		}
	}
}

// merge makes two classes one, with all that follows from that, or leaves everything as it is.
func (f *folder) merge(x, y uint32) bool {
	f.log = f.log[:0]
	for todo := [][2]uint32{{x, y}}; len(todo) > 0; {
		x, y := f.find(todo[len(todo)-1][0]), f.find(todo[len(todo)-1][1])
		todo = todo[:len(todo)-1]
		if x == y {
			continue
		}
		if x > y {
			x, y = y, x
		}
		if x <= Start || !sameLabel(f.a, x, y) {
			f.undo()
			return false
		}
		f.log = append(f.log, folded{class: y, into: x, edges: len(f.out[x])})
		f.parent[y] = x
		own := f.out[x]
		for _, k := range f.out[y] {
			same := f.edge(own, k.result)
			if same == nil {
				f.out[x] = append(f.out[x][:len(f.out[x]):len(f.out[x])], k)
				continue
			}
			e, g := f.a.edges[*same], f.a.edges[k]
			if e.Effects != g.Effects || e.Input != g.Input || e.To&Begun != g.To&Begun {
				f.undo()
				return false
			}
			todo = append(todo, [2]uint32{e.To &^ Begun, g.To &^ Begun})
		}
	}
	return true
}

// edge finds the edge with a result, or nil.
func (f *folder) edge(edges []edgeKey, result *fsfake.Result) *edgeKey {
	for i := range edges {
		if edges[i].result == result {
			return &edges[i]
		}
	}
	return nil
}

func (f *folder) undo() {
	for i := len(f.log) - 1; i >= 0; i-- {
		l := f.log[i]
		f.parent[l.class] = l.class
		f.out[l.into] = f.out[l.into][:l.edges]
	}
	f.log = f.log[:0]
}

// sameLabel reports whether two nodes make the same call, and the same begins with it.
func sameLabel(a *Automaton, x, y uint32) bool {
	if x == y {
		return true
	}
	p, q := &a.nodes[x], &a.nodes[y]
	return x > Start && y > Start && p.Op == q.Op && p.Begins == q.Begins && p.Open == q.Open && p.Ended == q.Ended
}
