package graph

import (
	"context"
	"fmt"
	"slices"
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

// A Starving is a component in which a task starves.
type Starving struct {
	Slot   int
	States []uint32 // of the component
}

// Starvation returns every component in which somebody starves. tries tells whether an acquisition of a task has begun in a state and has
// not returned. The error is that ctx ended first.
func (g *Graph) Starvation(ctx context.Context, tasks int, tries func(id uint32, slot int) bool) ([]Starving, error) {
	var out []Starving
	looks := 0
	for slot := range tasks {
		trying := make([]bool, g.Len())
		for id := range trying {
			trying[id] = g.present[id] && tries(uint32(id), slot)
		}
		keep := func(id uint32) bool { return trying[id] }
		follow := func(uint32, int) bool {
			looks++
			return looks&1023 != 0 || ctx.Err() == nil
		}
		g.Components(keep, follow, func(c []uint32) {
			if g.fairCycle(c, slot, tasks) {
				out = append(out, Starving{slot, slices.Clone(c)})
			}
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return out, nil
}

// fairCycle reports whether a component has a cycle through all of it that neglects
// nobody, and in which the starving task is not simply left alone: it steps, or it
// waits in a call.
func (g *Graph) fairCycle(c []uint32, starves, slots int) bool {
	if to, _ := g.Edges(c[0]); len(c) == 1 && !slices.Contains(to, c[0]) {
		return false
	}
	in := make(map[uint32]bool, len(c))
	for _, id := range c {
		in[id] = true
	}
	edges := 0
	steps := make([]bool, slots)
	disabled := make([]bool, slots)
	for _, id := range c {
		could := make([]bool, slots)
		to, who := g.Edges(id)
		for e, v := range to {
			if who[e] < 0 {
				continue
			}
			could[who[e]] = true
			if v != Bad && in[v] {
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

// Lap finds a way once around a fair cycle of the component, from one of its states and
// back to it. It returns whose steps they are.
func (g *Graph) Lap(start uint32, s Starving, tasks int) []int8 {
	in := make(map[uint32]bool, len(s.States))
	for _, id := range s.States {
		in[id] = true
	}
	at, out := start, []int8(nil)
	walk := func(goal func(from uint32, slot int8, to uint32) bool) {
		path, end := g.walk(in, at, goal)
		out, at = append(out, path...), end
	}
	for slot := range tasks {
		if g.stepsWithin(in, s.States, slot) {
			walk(func(_ uint32, who int8, _ uint32) bool { return int(who) == slot })
		} else { // it is disabled somewhere: pass there
			walk(func(_ uint32, _ int8, to uint32) bool { return !g.enabled(to, slot) })
		}
	}
	if at != start {
		walk(func(_ uint32, _ int8, to uint32) bool { return to == start })
	}
	return out
}

func (g *Graph) stepsWithin(in map[uint32]bool, c []uint32, slot int) bool {
	for _, id := range c {
		to, who := g.Edges(id)
		for e, v := range to {
			if int(who[e]) == slot && v != Bad && in[v] {
				return true
			}
		}
	}
	return false
}

func (g *Graph) enabled(id uint32, slot int) bool {
	_, who := g.Edges(id)
	for _, s := range who {
		if int(s) == slot {
			return true
		}
	}
	return false
}

// walk is a breadth-first search inside a component for the nearest edge that is the
// goal. It returns whose steps lead up to and along it, and where they end.
func (g *Graph) walk(in map[uint32]bool, from uint32, goal func(uint32, int8, uint32) bool) ([]int8, uint32) {
	type hop struct {
		parent int
		id     uint32
		slot   int8
	}
	queue := []hop{{parent: -1, id: from}}
	seen := map[uint32]bool{from: true}
	trail := func(i int) []int8 {
		var out []int8
		for ; queue[i].parent >= 0; i = queue[i].parent {
			out = append(out, queue[i].slot)
		}
		slices.Reverse(out)
		return out
	}
	for i := 0; i < len(queue); i++ {
		id := queue[i].id
		to, who := g.Edges(id)
		for e, v := range to {
			if who[e] < 0 || v == Bad || !in[v] {
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
	panic(fmt.Sprintf("graph: no way inside a component of %d states: this is a fault of lockpick", len(in)))
}
