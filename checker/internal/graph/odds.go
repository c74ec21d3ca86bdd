package graph

import (
	"context"
	"fmt"
)

// Odds are what is known of the probability that a uniformly random scheduler hits the
// violation: at every state it takes each possible choice (a step of each task that can take
// one, each kill and the stall while their budgets last) with equal probability, until the
// property is broken or nothing can happen any more. A task that polls is a task that can
// take a step. It is what sched.Random does.
//
// The probability lies between Low and High, but for rounding.
type Odds struct{ Low, High float64 }

// oddsWidth is how far Low and High may lie apart, as a part of High.
const oddsWidth = 1e-9

// Converged reports whether the odds are known to nine digits.
func (o Odds) Converged() bool { return o.High-o.Low <= oddsWidth*o.High }

// Value is the middle.
func (o Odds) Value() float64 { return o.Low + (o.High-o.Low)/2 }

// String says what is known: "between 0.02 and 0.03".
func (o Odds) String() string { return fmt.Sprintf("between %.3g and %.3g", o.Low, o.High) }

// Odds solves p(s) = mean of p over the choices of s, with 1 where the property breaks and 0
// where it never does any more, component by component. A state on no cycle is one equation.
// In a component both bounds are iterated, from below and from above, until they meet; where that takes
// too long the bounds are the answer. The error is that ctx ended first.
//
// From every state of a component from which anything bad can be reached, it is reached or
// the component is left for good, with probability 1. So each such system has one solution,
// and the upper bounds come down to it, without end components in their way: there are none
// but the states from which nothing bad can be reached, whose probability is 0.
func (g *Graph) Odds(ctx context.Context, start uint32) (Odds, error) {
	return g.odds(ctx, start, 1_000_000_000)
}

// odds looks at so many edges of a component at most: those of Odds take some seconds.
func (g *Graph) odds(ctx context.Context, start uint32, most int) (Odds, error) {
	s := &solver{g: g, ctx: ctx, most: most, low: make([]float64, g.Len()), high: make([]float64, g.Len())}
	all := func(uint32) bool { return true }
	follow := func(from uint32, _ int) bool { return !g.bad[from] && !s.stopped() }
	g.Components(all, follow, s.component)
	return Odds{s.low[start], s.high[start]}, s.err
}

// A solver finds bounds of the probability of every state, component by component, each after
// those that it leads to.
type solver struct {
	g         *Graph
	ctx       context.Context
	most      int
	low, high []float64
	looks     int
	err       error
}

// stopped looks now and then whether the caller has had enough.
func (s *solver) stopped() bool {
	if s.looks++; s.err == nil && s.looks&1023 == 0 {
		s.err = s.ctx.Err()
	}
	return s.err != nil
}

func (s *solver) component(c []uint32) {
	switch {
	case s.stopped():
	case len(c) == 1:
		s.low[c[0]], s.high[c[0]] = s.mean(s.low, c[0]), s.mean(s.high, c[0])
	case s.reachesBad(c):
		s.iterate(c)
	}
}

// reachesBad reports whether anything bad can be reached from a component. States from which
// it cannot keep the probability 0.
func (s *solver) reachesBad(c []uint32) bool {
	for _, id := range c {
		if s.g.bad[id] {
			return true
		}
		to, _ := s.g.Edges(id)
		for _, v := range to {
			if v == Bad || s.high[v] > 0 {
				return true
			}
		}
	}
	return false
}

// mean is one state's equation, solved for the state itself where it leads to itself.
func (s *solver) mean(p []float64, id uint32) float64 {
	if s.g.bad[id] {
		return 1
	}
	to, _ := s.g.Edges(id)
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

// iterate sweeps over a component until its bounds meet, or the work is done, or it is stopped.
//
// Each sweep replaces a state's bounds by the mean of its choices' bounds. That keeps them
// bounds, and brings them closer.
func (s *solver) iterate(c []uint32) {
	for _, id := range c {
		s.high[id] = 1
	}
	for work, met := s.most, false; work > 0 && !met; {
		met = true
		for i := len(c) - 1; i >= 0; i-- {
			if s.stopped() {
				return
			}
			id := c[i]
			to, _ := s.g.Edges(id)
			work -= 2 * len(to)
			s.low[id] = max(s.low[id], s.mean(s.low, id))
			s.high[id] = min(s.high[id], s.mean(s.high, id))
			// A little closer than the answer must be: components follow each other.
			met = met && s.high[id]-s.low[id] <= oddsWidth/1000*s.high[id]
		}
	}
}
