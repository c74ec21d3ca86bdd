package graph

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
