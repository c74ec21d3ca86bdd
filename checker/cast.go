package checker

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A cast is what has been learned of all tasks of a scenario, for runs that follow it
// instead of the tasks' own code: a drawn schedule then costs no coroutine, once every
// place that it leads to is known. What a run shows by it is confirmed by a live run
// before anybody gets to see it.
type cast struct {
	automata []*automaton
	lines    []map[line]edge // by automaton
	known    int
	most     int // answers kept
}

// A line is what a task was told at a place: it decides what the task does next.
type line struct {
	at     uint32
	result fsfake.Result
}

// maxLines is when a cast forgets everything and learns anew, so that a program that
// is told something new in every run (the time, say) does not fill the memory.
const maxLines = 1 << 18

func newCast(sc *scenarios.Scenario, start Starter) (*cast, error) {
	c := &cast{most: maxLines}
	for i := range sc.Setting.Processes {
		for n := 1; n <= sc.Setting.TasksOf(i); n++ {
			a, err := newAutomaton(sc.ID, start, i, n)
			if err != nil {
				return nil, err
			}
			c.automata = append(c.automata, a)
			c.lines = append(c.lines, map[line]edge{})
		}
	}
	return c, nil
}

func (c *cast) full() bool { return c.known > c.most }

// A Place is where a task is: its node, and the call that it makes there unless its
// program has ended.
type Place struct {
	Node  uint32
	Op    fsfake.Op
	Ended bool
}

// place describes a node of a task's automaton.
func (c *cast) place(task int, n uint32) Place {
	nd := &c.automata[task].nodes[n]
	return Place{n, nd.op, nd.ended}
}

// start is where a task begins, and what it does before its first call. Tasks are
// numbered through the processes, from 0.
func (c *cast) start(task int) (Place, effects) {
	a := c.automata[task]
	n := a.first()
	return c.place(task, n), a.nodes[n].begins
}

// proceed tells a task at a node the result of its call. It returns where the task is
// then, and what it did on the way.
func (c *cast) proceed(task int, at uint32, r *fsfake.Result) (Place, effects, error) {
	l := line{at, *r}
	e, ok := c.lines[task][l]
	if !ok {
		var err error
		told := *r // the automaton keeps it
		if e, err = c.automata[task].extend(at, &told); err != nil {
			return Place{}, effects{}, err
		}
		c.lines[task][l] = e
		c.known++
	}
	// What has begun is not in the effects again.
	return c.place(task, e.to&^nodeBegun), e.effects, nil
}
