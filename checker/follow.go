package checker

import (
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/sched"
)

// follow walks a schedule through the states, from the initial one, and returns every
// state on the way.
func (x *explorer) follow(s sched.Schedule) ([][]uint32, error) {
	w := newWorker(x)
	rows := [][]uint32{append([]uint32(nil), x.initial...)}
	for i, c := range s {
		if err := w.expand(rows[i]); err != nil {
			return nil, err
		}
		found := false
		for k := range w.out {
			if w.out[k].choice == c {
				rows = append(rows, append([]uint32(nil), w.state(&w.out[k])...))
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

// starves reports whether a schedule ends with a fair cycle in which somebody starves:
// how many choices the cycle has, 0 for none, and who keeps trying.
func (x *explorer) starves(s sched.Schedule) (int, []trace.Wait, error) {
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
			return n, []trace.Wait{{How: trace.Starves, Task: x.slots[slot].task}}, nil
		}
	}
	return 0, nil, nil
}

// starvesAround returns the task that starves on one cycle, or -1.
func (x *explorer) starvesAround(rows [][]uint32, s sched.Schedule) (int, error) {
	w := newWorker(x)
	n := len(x.slots)
	steps, disabled, tries := make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range tries {
		tries[i] = true
	}
	for i, row := range rows[:len(rows)-1] {
		if err := w.expand(row); err != nil {
			return -1, err
		}
		could := make([]bool, n)
		for k := range w.out {
			if w.out[k].slot >= 0 {
				could[w.out[k].slot] = true
			}
		}
		for slot := range x.slots {
			disabled[slot] = disabled[slot] || !could[slot]
			tries[slot] = tries[slot] && x.tries(row, slot)
			steps[slot] = steps[slot] || s[i].Action == sched.Run && s[i].Task == x.slots[slot].task
		}
	}
	for slot := range x.slots {
		if !steps[slot] && !disabled[slot] {
			return -1, nil
		}
	}
	for slot := range x.slots {
		if tries[slot] && (steps[slot] || disabled[slot]) {
			return slot, nil
		}
	}
	return -1, nil
}

// tries reports whether an operation of a task that may starve has begun and not
// returned.
func (x *explorer) tries(row []uint32, slot int) bool {
	word := row[wordNodes+slot]
	n := x.automata[slot].Node(word &^ learn.Begun)
	tries := func(input any) bool { return input != nil && x.property.Counts(input, model.Pending{}) }
	return tries(n.Open) || word&learn.Begun != 0 && tries(n.Begins.Input)
}
