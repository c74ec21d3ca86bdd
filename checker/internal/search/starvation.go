package search

import (
	"context"
	"errors"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/sched"
)

// follow walks a schedule through the states, from the initial one, and returns every
// state on the way.
func (x *Explorer) follow(s sched.Schedule) ([][]uint32, error) {
	return x.followOn(engine.NewExpander(x.Space), [][]uint32{append([]uint32(nil), x.Initial...)}, s)
}

// followOn is follow where the states before and after the first choices are known.
func (x *Explorer) followOn(w *engine.Expander, rows [][]uint32, s sched.Schedule) ([][]uint32, error) {
	for i := len(rows) - 1; i < len(s); i++ {
		c := s[i]
		if err := w.Expand(rows[i]); err != nil {
			return nil, err
		}
		found := false
		for k := range w.Out {
			if w.Out[k].Choice == c {
				rows = append(rows, append([]uint32(nil), w.State(&w.Out[k])...))
				found = true
				break
			}
		}
		if !found {
			return nil, &sched.DriftError{Step: i + 1, Want: c, Why: "the choice is not possible there"}
		}
	}
	return rows, nil
}

// Starves reports whether a schedule ends with a fair cycle in which somebody starves:
// how many choices the cycle has, 0 for none, and who keeps trying.
func (x *Explorer) Starves(s sched.Schedule) (int, []trace.Wait, error) {
	rows, err := x.follow(s)
	if err != nil {
		return 0, nil, err
	}
	end := rows[len(rows)-1]
	for from := len(rows) - 2; from >= 0; from-- {
		if !table.EqualWords(rows[from], end) {
			continue
		}
		slot, err := x.starvesAround(rows[from:], s[from:])
		if err != nil {
			return 0, nil, err
		}
		if slot >= 0 {
			n := len(s) - from
			return n, x.keepsTrying(slot), nil
		}
	}
	return 0, nil, nil
}

// starvesAround returns the task that starves on one cycle, or -1.
func (x *Explorer) starvesAround(rows [][]uint32, s sched.Schedule) (int, error) {
	w := engine.NewExpander(x.Space)
	n := len(x.Slots)
	steps, disabled, tries := make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range tries {
		tries[i] = true
	}
	for i, row := range rows[:len(rows)-1] {
		if err := w.Expand(row); err != nil {
			return -1, err
		}
		could := make([]bool, n)
		for k := range w.Out {
			if w.Out[k].Slot >= 0 {
				could[w.Out[k].Slot] = true
			}
		}
		for slot := range x.Slots {
			disabled[slot] = disabled[slot] || !could[slot]
			tries[slot] = tries[slot] && x.Tries(row, slot)
			steps[slot] = steps[slot] || s[i].Action == sched.Run && s[i].Task == x.Slots[slot].Task
		}
	}
	for slot := range x.Slots {
		if !steps[slot] && !disabled[slot] {
			return -1, nil
		}
	}
	for slot := range x.Slots {
		if tries[slot] && (steps[slot] || disabled[slot]) {
			return slot, nil
		}
	}
	return -1, nil
}

// A lasso is a way into a fair cycle in which somebody starves, and once around it.
type lasso struct {
	Schedule sched.Schedule
	Cycle    int // how many of the last choices are the cycle
	Waits    []trace.Wait
	// Smallest: the way into the cycle is the smallest. Otherwise it is some way, because a
	// budget ended before the smallest was found; Why says which.
	Smallest bool
	Why      string
}

// FindStarvation returns the smallest way into a fair cycle in which somebody starves, and
// once around it, or nil when there is none. An [EndedError] says that a budget ended before
// that was known.
func (x *Explorer) FindStarvation(ctx context.Context, c *Coverage, o Limits) (*lasso, error) {
	g, err := x.BuildGraph(ctx, c, o)
	if err != nil {
		return nil, err
	}
	found, err := g.Starvation(ctx, len(x.Slots), func(id uint32, slot int) bool { return x.Tries(c.States.Row(int(id), nil), slot) })
	if err != nil {
		return nil, stopped(err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	who := map[uint32]int{} // by state: a component that it is in
	for i := len(found) - 1; i >= 0; i-- {
		for _, id := range found[i].States {
			who[id] = i
		}
	}
	out := &lasso{}
	start, err := x.into(ctx, c, o, who, out)
	if err != nil {
		return nil, err
	}
	s := found[who[uint32(start)]]
	n := len(out.Schedule)
	for _, slot := range g.Lap(uint32(start), s, len(x.Slots)) {
		out.Schedule = append(out.Schedule, sched.Choice{Action: sched.Run, Task: x.Slots[slot].Task})
	}
	out.Cycle, out.Waits = len(out.Schedule)-n, x.keepsTrying(s.Slot)
	return out, nil
}

// into finds the way of a lasso into the states of some components, and returns where it ends.
func (x *Explorer) into(ctx context.Context, c *Coverage, o Limits, who map[uint32]int, out *lasso) (int, error) {
	sym := engine.NewSymmetry(x.Space)
	goal := func(state []uint32) bool {
		state = slices.Clone(state)
		sym.Canonical(state)
		id, ok := c.States.Find(state)
		_, in := who[uint32(id)]
		return ok && in
	}
	schedule, err := x.FindSmallest(ctx, &Target{goal: goal, Limits: Limits{Bytes: o.Bytes}, Beside: c.States.Bytes()})
	var ended *EndedError
	if errors.As(err, &ended) {
		out.Why = ended.Why
		for id := range c.States.Span() {
			if _, in := who[uint32(id)]; in {
				schedule, _, err = x.along(c.rowsTo(id))
				break
			}
		}
	} else {
		out.Smallest = true
	}
	if err != nil {
		return 0, err
	}
	rows, err := x.follow(schedule)
	if err != nil {
		return 0, err
	}
	start, _ := c.States.Find(rows[len(rows)-1])
	out.Schedule = slices.Clone(schedule)
	return start, nil
}

// keepsTrying says who starves.
func (x *Explorer) keepsTrying(slot int) []trace.Wait {
	return []trace.Wait{{How: trace.Starves, Task: x.Slots[slot].Task}}
}
