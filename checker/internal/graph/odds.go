package graph

import (
	"context"
	"math"
)

// Odds is the probability that a uniformly random scheduler hits the violation: at
// every state it takes each possible choice (a step of each task that can take one,
// each kill and the stall while their budgets last) with equal probability, until the
// property is broken or nothing can happen any more. A task that polls is a task that
// can take a step. It is what sched.Random does.
//
// It is the least solution of p(s) = mean of p over the choices of s, with 1 where the
// property breaks, found component by component: exactly for states outside cycles, and
// within a cycle (a retry loop) by iteration until nothing changes by more than 1e-13.
//
// When ctx ends first the error is that of ctx.
func (g *Graph) Odds(ctx context.Context, start uint32) (float64, error) {
	p := make([]float64, g.Len())
	all := func(uint32) bool { return true }
	any := func(uint32, int) bool { return true }
	g.Components(all, any, func(component []uint32) {
		for ctx.Err() == nil {
			change := 0.0
			for i := len(component) - 1; i >= 0; i-- {
				id := component[i]
				v := g.mean(p, id)
				change = max(change, math.Abs(v-p[id]))
				p[id] = v
			}
			if change < 1e-13 {
				return
			}
		}
	})
	return p[start], ctx.Err()
}

// mean is one state's equation, solved for the state itself where it leads to itself.
func (g *Graph) mean(p []float64, id uint32) float64 {
	if g.bad[id] {
		return 1
	}
	to, _ := g.Edges(id)
	sum, n := 0.0, 0
	for _, v := range to {
		switch v {
		case Bad:
			sum++
		case id:
			continue
		default:
			sum += p[v]
		}
		n++
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
