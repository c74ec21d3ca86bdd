package bruteforce

import (
	"math"
	"slices"
)

// odds is the probability that a scheduler which takes every choice with equal probability
// breaks the property. States from which nothing bad can be reached have 0; the rest is a
// system of linear equations, which has one solution, solved component by component. ok is
// false when a component is too large to be solved here.
func (g *graph) odds() (p float64, ok bool) {
	can := g.reachesBad()
	value := make([]float64, len(g.nodes))
	for _, c := range g.components(func(n int) bool { return can[n] && !g.nodes[n].bad }, nil) {
		if len(c) > 400 {
			return 0, false
		}
		g.solve(c, can, value)
	}
	return g.value(0, value), true
}

func (g *graph) value(n int, value []float64) float64 {
	switch {
	case n == bad, g.nodes[n].bad:
		return 1
	}
	return value[n]
}

// reachesBad tells of each state whether something bad can be reached from it.
func (g *graph) reachesBad() []bool {
	can := make([]bool, len(g.nodes))
	into := make([][]int, len(g.nodes))
	var todo []int
	for i := range g.nodes {
		hit := g.nodes[i].bad
		for _, e := range g.nodes[i].edges {
			if e.to == bad {
				hit = true
			} else {
				into[e.to] = append(into[e.to], i)
			}
		}
		if hit {
			can[i] = true
			todo = append(todo, i)
		}
	}
	for len(todo) > 0 {
		i := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, j := range into[i] {
			if !can[j] {
				can[j] = true
				todo = append(todo, j)
			}
		}
	}
	return can
}

// solve eliminates the equations of one component, with pivots. Those that it leads to are
// solved.
func (g *graph) solve(c []int, can []bool, value []float64) {
	at := map[int]int{}
	for i, n := range c {
		at[n] = i
	}
	a := make([][]float64, len(c))
	for i, n := range c {
		a[i] = make([]float64, len(c)+1)
		a[i][i] = 1
		edges := g.nodes[n].edges
		share := 1 / float64(len(edges))
		for _, e := range edges {
			switch j, inside := at[e.to]; {
			case inside && e.to != bad:
				a[i][j] -= share
			case e.to == bad || can[e.to]:
				a[i][len(c)] += share * g.value(e.to, value)
			}
		}
	}
	for i := range a {
		best := i
		for j := i; j < len(a); j++ {
			if math.Abs(a[j][i]) > math.Abs(a[best][i]) {
				best = j
			}
		}
		a[i], a[best] = a[best], a[i]
		for j := range a {
			if j == i || a[j][i] == 0 {
				continue
			}
			f := a[j][i] / a[i][i]
			for k := i; k < len(a[j]); k++ {
				a[j][k] -= f * a[i][k]
			}
		}
	}
	for i, n := range c {
		value[n] = a[i][len(c)] / a[i][i]
	}
}

// components lists the strongly connected components of the states for which keep is true,
// along the edges for which follow is true (nil: all): each after those that it leads to.
// (Kosaraju's two passes.)
func (g *graph) components(keep func(int) bool, follow func(*edge) bool) [][]int {
	into := make([][]int, len(g.nodes))
	next := make([][]int, len(g.nodes))
	for i := range g.nodes {
		if !keep(i) {
			continue
		}
		for k := range g.nodes[i].edges {
			e := &g.nodes[i].edges[k]
			if e.to != bad && keep(e.to) && (follow == nil || follow(e)) {
				next[i] = append(next[i], e.to)
				into[e.to] = append(into[e.to], i)
			}
		}
	}
	// The order in which the searches backwards end lists sources of the reversed graph
	// last; searches forwards from them then find one component each.
	var order []int
	var roots []int
	for i := range g.nodes {
		if keep(i) {
			roots = append(roots, i)
		}
	}
	for _, tree := range forest(roots, into) {
		order = append(order, tree...)
	}
	slices.Reverse(order)
	return forest(order, next)
}

// forest searches depth first from each root in turn. It lists the nodes that each found, in
// the order in which they were left.
func forest(roots []int, next [][]int) [][]int {
	var out [][]int
	seen := make([]bool, len(next))
	type place struct{ node, edge int }
	for _, r := range roots {
		if seen[r] {
			continue
		}
		seen[r] = true
		var tree []int
		for stack := []place{{r, 0}}; len(stack) > 0; {
			top := &stack[len(stack)-1]
			if top.edge == len(next[top.node]) {
				tree = append(tree, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			to := next[top.node][top.edge]
			top.edge++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, place{to, 0})
			}
		}
		out = append(out, tree)
	}
	return out
}
