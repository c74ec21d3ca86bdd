package explain

import (
	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A story goes through a walk and keeps what matters for its cause: who has last seen what
// of each name, who changed it since, and which calls relied on it all the same.
type story struct {
	sc   *scenarios.Scenario
	cx   *trace.Counterexample
	walk *trace.Walk

	looks  map[lookKey]*look
	recent map[sched.Task]*look    // the last look at something that was there
	missed map[sched.Task][]string // names at which nothing was found
	all    map[sched.Task][]*look
	opens  map[int]*look // by the step of the open
	orphan map[int]bool  // opens whose descriptor was used after the name was gone
	// changes of what stands at each name, oldest first.
	changes map[string][]*change
	stale   []*use
	blind   []*use
	// refusals are calls that were refused because of what others had changed.
	refusals []*use
	same     []*use        // writes of what others had written meanwhile
	joined   *trace.Walked // the last acquisition that joined a hold of the same process
	kills    []*trace.Walked
	stalls   []*trace.Walked
	loss     *trace.Walked
	clocks   map[sched.Task][]int // the steps in which a task read the clock
	begun    map[sched.Task]operation
	done     []operation
}

type lookKey struct {
	task sched.Task
	path string
}

// A change is one that a task made, and what it had last seen there.
type change struct {
	*trace.Change
	went *look
	// within is the operation that the task was in; nil for none.
	within any
}

// A reliance is how a call relies on a look.
type reliance uint8

const (
	changed   reliance = iota + 1 // it changed what stands at the name
	tookOver                      // it opened, as if to create, what was there
	wroteLost                     // it wrote to a file that the name no longer leads to
	lockedOld                     // it locked such a file
	heldOld                       // an acquisition ended with such a file open
	refusedBy                     // it was refused, because of what the others had changed
)

// An operation is one of the history, from its first step to its last.
type operation struct {
	task        sched.Task
	input       any
	output      any
	first, last int
}

func newStory(sc *scenarios.Scenario, cx *trace.Counterexample) *story {
	s := &story{
		sc: sc, cx: cx, walk: trace.NewWalk(sc, cx.Trace),
		looks: map[lookKey]*look{}, recent: map[sched.Task]*look{}, missed: map[sched.Task][]string{}, all: map[sched.Task][]*look{}, opens: map[int]*look{}, orphan: map[int]bool{},
		changes: map[string][]*change{}, clocks: map[sched.Task][]int{}, begun: map[sched.Task]operation{},
	}
	for i := range s.walk.Steps {
		s.step(&s.walk.Steps[i])
	}
	return s
}

// last is the last step; nil when there is none.
func (s *story) last() *trace.Walked {
	if n := len(s.walk.Steps); n > 0 {
		return &s.walk.Steps[n-1]
	}
	return nil
}

// step takes in one step.
func (s *story) step(st *trace.Walked) {
	switch st.Choice.Action {
	case sched.Kill:
		s.kills = append(s.kills, st)
		return
	case sched.Signal:
		return // what its handler does, it does
	case sched.Stall:
		s.stalls = append(s.stalls, st)
		return
	case sched.PowerLoss:
		s.loss = st
		return
	}
	t := st.Choice.Task
	if st.Invoked != nil {
		s.begun[t] = operation{task: t, input: st.Invoked, first: st.N}
	}
	s.changed(st)
	for i := range st.Calls {
		if _, notMade := st.Calls[i].Result.Interrupts(); !notMade {
			s.call(st, i)
		}
	}
	if st.Returned == nil {
		return
	}
	op := s.begun[t]
	op.output, op.last = st.Returned, st.N
	s.done = append(s.done, op)
	delete(s.begun, t)
	if a, ok := st.Returned.(model.Acquired); ok && a.OK {
		s.acquired(st, a.Shared)
	}
}

// changed remembers what the step does to every name, and what the task had seen there.
func (s *story) changed(st *trace.Walked) {
	t := st.Choice.Task
	for i := range st.Changes {
		c := &st.Changes[i]
		s.changes[c.Path] = append(s.changes[c.Path], &change{Change: c, went: s.looks[lookKey{t, c.Path}], within: s.begun[t].input})
	}
}
