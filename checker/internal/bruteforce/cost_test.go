package bruteforce

import (
	"container/heap"

	"lockpick/sched"
)

// A cost orders schedules: fewest crashes, stalls and failing calls, then fewest preemptions, then fewest
// steps. A preemption is a switch away from a task that could have gone on and has not just
// slept.
type cost struct{ faults, preemptions, steps int }

func (c cost) less(d cost) bool {
	if c.faults != d.faults {
		return c.faults < d.faults
	}
	if c.preemptions != d.preemptions {
		return c.preemptions < d.preemptions
	}
	return c.steps < d.steps
}

func (c cost) add(d cost) cost {
	return cost{c.faults + d.faults, c.preemptions + d.preemptions, c.steps + d.steps}
}

// A position is a state with who could be preempted (-1: nobody), and how many preemptions
// there have been when they are bounded.
type position struct{ state, last, used int }

// A move is one choice at a position.
type move struct {
	edge *edge
	cost cost
	to   position // meaningless when the choice breaks the property
}

func (g *graph) moves(p position, bound int) []move {
	n := &g.nodes[p.state]
	var out []move
	for i := range n.edges {
		e := &n.edges[i]
		m := move{edge: e, to: position{state: e.to, last: p.last, used: p.used}}
		if e.fault() {
			m.cost.faults = 1
		}
		if e.slot >= 0 {
			m.cost.steps = 1
			if p.last >= 0 && p.last != e.slot && n.enabled[p.last] {
				m.cost.preemptions = 1
			}
			if m.to.last = e.slot; e.slept {
				m.to.last = -1
			}
		}
		if bound >= 0 {
			m.to.used += m.cost.preemptions
		}
		if bound < 0 || m.to.used <= bound {
			out = append(out, m)
		}
	}
	return out
}

// smallest returns the smallest schedule that reaches the goal, which is a state for which
// goal is true, or a choice that breaks the property; of several the first in the order of
// choices. ok: there is one. bound, unless negative, is the number of preemptions allowed.
//
// The costs that are left are relaxed backwards from the goals, cheapest first; then the
// way goes forwards, taking at each position the first choice that loses nothing.
func (g *graph) smallest(goal func(state int) bool, bound int) (s sched.Schedule, c cost, ok bool) {
	type back struct {
		from position
		cost cost
	}
	first := position{state: 0, last: -1}
	into := map[position][]back{}
	left := map[position]cost{}
	q := &costs{}
	reach := func(p position, c cost) {
		if was, known := left[p]; !known || c.less(was) {
			left[p] = c
			heap.Push(q, costed{p, c})
		}
	}
	seen := map[position]bool{first: true}
	for todo := []position{first}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if goal(p.state) {
			reach(p, cost{})
			continue
		}
		for _, m := range g.moves(p, bound) {
			if m.edge.to == bad {
				reach(p, m.cost)
				continue
			}
			into[m.to] = append(into[m.to], back{p, m.cost})
			if !seen[m.to] {
				seen[m.to] = true
				todo = append(todo, m.to)
			}
		}
	}
	for q.Len() > 0 {
		at := heap.Pop(q).(costed)
		if left[at.position] == at.cost {
			for _, b := range into[at.position] {
				reach(b.from, at.cost.add(b.cost))
			}
		}
	}
	c, ok = left[first]
	if !ok {
		return nil, cost{}, false
	}
	for p := first; !goal(p.state); {
		for _, m := range g.moves(p, bound) {
			rest, reaches := cost{}, true
			if m.edge.to != bad {
				rest, reaches = left[m.to], false
				_, reaches = left[m.to]
			}
			if !reaches || m.cost.add(rest) != left[p] {
				continue
			}
			s = append(s, m.edge.choice)
			if m.edge.to == bad {
				return s, c, true
			}
			p = m.to
			break
		}
	}
	return s, c, true
}

type costed struct {
	position
	cost cost
}

type costs []costed

func (q costs) Len() int           { return len(q) }
func (q costs) Less(i, j int) bool { return q[i].cost.less(q[j].cost) }
func (q costs) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *costs) Push(v any)        { *q = append(*q, v.(costed)) }
func (q *costs) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
