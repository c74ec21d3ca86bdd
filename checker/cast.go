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
}

// A line is what a task was told at a place: it decides what the task does next.
type line struct {
	at     uint32
	result fsfake.Result
}

// maxLines is when a cast forgets everything and learns anew, so that a program that
// is told something new in every run (the time, say) does not fill the memory.
const maxLines = 1 << 18

func newCast(sc *scenarios.Scenario) (*cast, error) {
	c := &cast{}
	for i := range sc.Setting.Processes {
		for n := 1; n <= sc.Setting.TasksOf(i); n++ {
			a, err := newAutomaton(sc, i, n)
			if err != nil {
				return nil, err
			}
			c.automata = append(c.automata, a)
			c.lines = append(c.lines, map[line]edge{})
		}
	}
	return c, nil
}

func (c *cast) full() bool { return c.known > maxLines }

// start is where a task begins, and what it does before its first call.
func (c *cast) start(a *actor) effects {
	s := c.automata[a.index]
	a.node = s.start()
	a.op, a.ended = s.nodes[a.node].op, s.nodes[a.node].ended
	return s.nodes[a.node].begins
}

// proceed tells a task the result of its call.
func (c *cast) proceed(a *actor, r *fsfake.Result) (effects, error) {
	s := c.automata[a.index]
	l := line{a.node, *r}
	e, ok := c.lines[a.index][l]
	if !ok {
		var err error
		told := *r // the automaton keeps it
		if e, err = s.extend(a.node, &told); err != nil {
			return effects{}, err
		}
		c.lines[a.index][l] = e
		c.known++
	}
	a.node = e.to &^ nodeBegun // what has begun is not in the effects again
	a.op, a.ended = s.nodes[a.node].op, s.nodes[a.node].ended
	return e.effects, nil
}
