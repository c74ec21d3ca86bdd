package learn

import (
	"context"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Memo is what has been learned of all tasks of a scenario, for runs that follow it
// instead of the tasks' own code: a drawn schedule then costs no coroutine, once every
// place that it leads to is known. What a run shows by it is confirmed by a live run
// before anybody gets to see it.
type Memo struct {
	automata []*Automaton
	lines    []map[line]Edge // by automaton
	known    int
	Most     int // answers kept
}

// A line is what a task was told at a place: it decides what the task does next.
type line struct {
	at     uint32
	result fsfake.Result
}

// maxLines is when a memo forgets everything and learns anew, so that a program that
// is told something new in every run (the time, say) does not fill the memory.
const maxLines = 1 << 18

// NewMemo returns a memo of the tasks of a scenario that has learned nothing but how each
// begins.
func NewMemo(sc *scenarios.Scenario, start Starter) (*Memo, error) {
	m := &Memo{Most: maxLines}
	for i, n := range sc.Setting.EachTask() {
		a, err := New(sc, start, i, n)
		if err != nil {
			return nil, err
		}
		m.automata = append(m.automata, a)
		m.lines = append(m.lines, map[line]Edge{})
	}
	return m, nil
}

// Full reports whether it is time for a new memo.
func (m *Memo) Full() bool { return m.known > m.Most }

// Unroll tries out the retry loops of all tasks; see [Automaton.Unroll].
func (m *Memo) Unroll(ctx context.Context, tried *Tried) error {
	for _, a := range m.automata {
		if err := a.Unroll(ctx, tried, false); err != nil {
			return err
		}
	}
	return nil
}

// A Place is where a task is: its node, and the call that it makes there unless its
// program has ended.
type Place struct {
	Node  uint32
	Op    fsfake.Op
	Ended bool
}

// place describes a node of a task's automaton.
func (m *Memo) place(task int, n uint32) Place {
	nd := &m.automata[task].nodes[n]
	return Place{n, nd.Op, nd.Ended}
}

// Start is where a task begins, and what it does before its first call. Tasks are
// numbered through the processes, from 0.
func (m *Memo) Start(task int) (Place, Effects) {
	a := m.automata[task]
	n := a.First()
	return m.place(task, n), a.nodes[n].Begins
}

// Proceed tells a task at a node the result of its call. It returns where the task is
// then, and what it did on the way.
func (m *Memo) Proceed(task int, at uint32, r *fsfake.Result) (Place, Effects, error) {
	l := line{at, *r}
	e, ok := m.lines[task][l]
	if !ok {
		var err error
		told := *r // the automaton keeps it
		if e, err = m.automata[task].extend(at, &told); err != nil {
			return Place{}, Effects{}, err
		}
		if e.Effects.Again != 0 { // for Unroll
			a, k := m.automata[task], edgeKey{at, &told}
			a.edges[k], a.order = e, append(a.order, k)
		}
		m.lines[task][l] = e
		m.known++
	}
	// What has begun is not in the effects again.
	return m.place(task, e.To&^Begun), e.Effects, nil
}
