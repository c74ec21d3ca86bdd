package checker

import (
	"fmt"

	"lockpick/model"
	"lockpick/sched"
)

// Starvation: a weakly fair cycle in which somebody keeps trying and never acquires.
//
// For each task the search keeps the states in which an acquisition of that task has
// begun, and the steps that do not end it, and looks at the strongly connected
// components of what is left. A component is weakly fair when no task could step in
// every state of it and never does: a run through it, for ever, then neglects nobody
// who is always able to move. Crashes and stalls are no steps: nothing forces them.
//
// The claim is about scheduling only. A lock that polls can starve in this sense unless
// something hands it over in turn; under a random scheduler such a run has probability
// zero.

// A starving is a component in which a task starves.
type starving struct {
	slot  int
	cycle []uint32 // the states of the component
}

// starvation returns the components in which somebody starves, at most one for each
// task.
func (g *graph) starvation() []starving {
	var out []starving
	for slot := range g.x.slots {
		tries := g.acquiring(slot)
		keep := func(id uint32) bool { return tries[id] }
		follow := func(uint32, int) bool { return true }
		var found []uint32
		g.components(keep, follow, func(c []uint32) {
			if found == nil && g.fairCycle(c, slot) {
				found = append([]uint32(nil), c...)
			}
		})
		if found != nil {
			out = append(out, starving{slot, found})
		}
	}
	return out
}

// acquiring tells for each state whether an acquisition of a task has begun there and
// has not returned.
func (g *graph) acquiring(slot int) []bool {
	out := make([]bool, g.len())
	for id := range out {
		out[id] = g.set.has(id) && g.x.tries(g.set.row(id), slot)
	}
	return out
}

func isAcquire(input any) bool {
	switch input.(type) {
	case model.Acquire, model.RAcquire, model.WAcquire:
		return true
	}
	return false
}

// fairCycle reports whether a component has a cycle through all of it that neglects
// nobody, and in which the starving task is not simply left alone: it steps, or it
// waits in a call.
func (g *graph) fairCycle(c []uint32, starves int) bool {
	in := make(map[uint32]bool, len(c))
	for _, id := range c {
		in[id] = true
	}
	edges := 0
	slots := len(g.x.slots)
	steps := make([]bool, slots)
	disabled := make([]bool, slots)
	for _, id := range c {
		could := make([]bool, slots)
		to, who := g.edges(id)
		for e, v := range to {
			if who[e] < 0 {
				continue
			}
			could[who[e]] = true
			if v != toBad && in[v] {
				edges++
				steps[who[e]] = true
			}
		}
		for i, ok := range could {
			disabled[i] = disabled[i] || !ok
		}
	}
	if edges == 0 {
		return false
	}
	for i := range slots {
		if !steps[i] && !disabled[i] {
			return false
		}
	}
	return steps[starves] || disabled[starves]
}

// lasso finds a schedule into the component and once around a fair cycle of it. It
// returns the schedule, and how many of its last choices are the cycle.
func (g *graph) lasso(prefix sched.Schedule, start uint32, s starving) (sched.Schedule, int) {
	in := make(map[uint32]bool, len(s.cycle))
	for _, id := range s.cycle {
		in[id] = true
	}
	at, out := start, append(sched.Schedule(nil), prefix...)
	walk := func(goal func(from uint32, slot int8, to uint32) bool) {
		path, end := g.walk(in, at, goal)
		out, at = append(out, path...), end
	}
	for slot := range g.x.slots {
		if g.stepsWithin(in, s.cycle, slot) {
			walk(func(_ uint32, who int8, _ uint32) bool { return int(who) == slot })
		} else { // it is disabled somewhere: pass there
			walk(func(_ uint32, _ int8, to uint32) bool { return !g.enabled(to, slot) })
		}
	}
	if at != start {
		walk(func(_ uint32, _ int8, to uint32) bool { return to == start })
	}
	return out, len(out) - len(prefix)
}

func (g *graph) stepsWithin(in map[uint32]bool, c []uint32, slot int) bool {
	for _, id := range c {
		to, who := g.edges(id)
		for e, v := range to {
			if int(who[e]) == slot && v != toBad && in[v] {
				return true
			}
		}
	}
	return false
}

func (g *graph) enabled(id uint32, slot int) bool {
	_, who := g.edges(id)
	for _, s := range who {
		if int(s) == slot {
			return true
		}
	}
	return false
}

// walk is a breadth-first search inside a component for the nearest edge that is the
// goal. It returns the choices up to and including it, and where they end.
func (g *graph) walk(in map[uint32]bool, from uint32, goal func(uint32, int8, uint32) bool) (sched.Schedule, uint32) {
	type hop struct {
		parent int
		id     uint32
		slot   int8
	}
	queue := []hop{{parent: -1, id: from}}
	seen := map[uint32]bool{from: true}
	trail := func(i int) sched.Schedule {
		var rev sched.Schedule
		for ; queue[i].parent >= 0; i = queue[i].parent {
			rev = append(rev, sched.Choice{Action: sched.Run, Task: g.x.slots[queue[i].slot].task})
		}
		for a, b := 0, len(rev)-1; a < b; a, b = a+1, b-1 {
			rev[a], rev[b] = rev[b], rev[a]
		}
		return rev
	}
	for i := 0; i < len(queue); i++ {
		id := queue[i].id
		to, who := g.edges(id)
		for e, v := range to {
			if who[e] < 0 || v == toBad || !in[v] {
				continue
			}
			if goal(id, who[e], v) {
				queue = append(queue, hop{i, v, who[e]})
				return trail(len(queue) - 1), v
			}
			if !seen[v] {
				seen[v] = true
				queue = append(queue, hop{i, v, who[e]})
			}
		}
	}
	panic(fmt.Sprintf("checker: no way inside a component of %d states: this is a fault of lockpick", len(in)))
}
