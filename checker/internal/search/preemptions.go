package search

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/table"
	"lockpick/scenarios"
	"lockpick/sched"
)

// preemptive covers schedules in the order of their preemptions: all without one, then all with one, and so on. It is
// the iterative context bounding of Musuvathi and Qadeer (PLDI 2007), without faults. Within a bound it goes depth
// first, which suits real programs: one execution of a program goes on along a whole schedule. A switch away from a
// task that has ended, waits or sleeps is no preemption.
//
// Executions are dear and steps of the machine are not. So it first makes the schedules on which programs are told
// what they were told before. These need no execution, and many violations lie there: two programs that lose an
// update need not notice. Then it makes the others. A schedule on which some call conflicts with another task's needs
// a new answer, so its program is executed; schedules that preempt at calls that conflict with nothing share its
// answers.
type preemptive struct {
	x      *Explorer
	w      *engine.Expander
	set    *table.States // rows with who stepped last, from 1, or 0 where a switch is none
	visits []reach       // by state
	limit  *limit
	row    []uint32
	// pending is what follows where programs must be executed, and next the
	// preemptions that lie beyond the bound.
	pending, next []preemption
	result        *Preempted
	bound         int // at which schedules are made
	want          scenarios.Kind
	shown         bool // a schedule of kind want is known
	deep          bool // some schedule was left where it became too long
}

// A reach is how a state was reached first.
type reach struct {
	parent, length int32
	slot, which    int32 // who stepped last, or -1, and in which way
}

// A preemption is a state in which another task goes on than the one that stepped last; with slot -1 nobody is
// preempted there.
type preemption struct {
	at   int32
	slot int
}

// Preempted says what schedules with few preemptions came to.
type Preempted struct {
	// Bound is how many preemptions all schedules have been covered with; -1 for none. Places is how many places they
	// preempt at, those of the last bound only. Whole: there are no schedules with more.
	Bound, Places int
	Whole         bool
	// Broken are schedules that break the property, the first of each kind that was seen.
	Broken []BrokenSchedule
	// States were stored. Ended says which budget ended; nil for none.
	States int
	Ended  *EndedError
}

// A BrokenSchedule breaks the property in one kind. It has so many preemptions at most, and no schedule of that kind
// has fewer.
type BrokenSchedule struct {
	Kind        scenarios.Kind
	Schedule    sched.Schedule
	Preemptions int
}

// CoverPreemptions covers all schedules without faults with up to most preemptions, or until one breaks the property
// in kind want, [scenarios.NoKind] where kinds are not told apart.
// Beyond bounds how many executions and states those take that have more preemptions than sure.
func (x *Explorer) CoverPreemptions(ctx context.Context, want scenarios.Kind, o Limits, most, sure int, beyond Limits) (
	*Preempted, error) {
	s := &preemptive{
		x: x, want: want, w: engine.NewExpander(x.Space), set: table.NewStates(x.Width()+1, 1),
		result: &Preempted{Bound: -1},
	}
	s.limit = newLimit(ctx, o, s.bytes, func() int { return x.Learned().Coroutines })
	defer s.limit.release()
	s.next = []preemption{{at: s.reach(append(slices.Clone(x.Initial), 0), reach{parent: -1, slot: -1}), slot: -1}}
	err := s.cover(sure)
	if err == nil && !s.deep && !s.done() && !s.result.Whole && most > sure {
		s.limit.o.Executions, s.limit.o.States = x.Learned().Coroutines+beyond.Executions, s.set.Len()+beyond.States
		err = s.cover(most)
	}
	s.result.States = s.set.Len()
	switch {
	case err != nil || s.shown:
	case s.limit.hit():
		s.result.Ended = s.limit.err().(*EndedError)
	case s.deep:
		s.result.Ended = &EndedError{Why: fmt.Sprintf("a schedule with %d preemptions has more than %d steps",
			s.result.Bound+1, longSchedule)}
	}
	return s.result, err
}

// longSchedule is how many steps of a schedule are followed: whoever polls and counts may have no end.
const longSchedule = 20_000

// cover goes from bound to bound, with every place at which the schedules of one are preempted.
func (s *preemptive) cover(most int) error {
	for bound := s.result.Bound + 1; !s.done(); bound++ {
		s.bound = bound
		places := s.next
		s.next = nil
		for i, p := range places {
			if s.tell(bound, i, len(places)); s.done() {
				return nil
			}
			if err := s.follow(p, true); err != nil {
				return err
			}
		}
		pending := s.pending
		s.pending = nil
		for i, p := range pending {
			if s.tell(bound, max(len(places)-len(pending), 0)+i, max(len(places), len(pending))); s.done() {
				return nil
			}
			if err := s.follow(p, false); err != nil {
				return err
			}
		}
		if s.done() || s.deep {
			return nil
		}
		s.result.Bound, s.result.Places = bound, len(places)
		if s.result.Whole = len(s.next) == 0; s.result.Whole || bound == most {
			return nil
		}
	}
	return nil
}

func (s *preemptive) done() bool {
	s.limit.check(s.set.Len(), false)
	return s.limit.hit() || s.shown
}

// tell tells of the progress.
func (s *preemptive) tell(bound, place, places int) {
	if s.limit.o.Progress != nil {
		l := s.x.Learned()
		s.limit.o.Progress(Progress{
			States: s.set.Len(), Bytes: s.bytes(), Executions: l.Coroutines, Learned: l.Edges,
			Preemptions: bound, Place: place, Places: places,
		})
	}
}

func (s *preemptive) bytes() int {
	return s.x.Bytes(s.set) + int(unsafe.Sizeof(reach{}))*cap(s.visits) + int(unsafe.Sizeof(preemption{}))*cap(s.next)
}

// reach stores a state, and returns its number; -1 where it was reached before. It was so with as many preemptions
// at most.
func (s *preemptive) reach(row []uint32, r reach) int32 {
	id, isNew := s.set.Insert(row)
	if !isNew {
		return -1
	}
	s.visits = append(s.visits, r)
	return int32(id)
}

// follow makes the schedules that go on from a place without another preemption.
func (s *preemptive) follow(p preemption, known bool) error {
	stack := []preemption{p}
	for steps := 0; len(stack) > 0 && !s.shown; steps++ {
		if steps%256 == 255 {
			if s.done() {
				return nil
			}
		}
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if s.visits[p.at].length >= longSchedule {
			s.deep = true
			continue
		}
		after, all, err := s.step(p, known)
		if err != nil {
			return err
		}
		if !all {
			s.pending = append(s.pending, p)
		}
		stack = append(stack, after...)
	}
	return nil
}

// step makes the steps with which schedules go on from a place. It reports false where that is not known.
func (s *preemptive) step(p preemption, known bool) (after []preemption, all bool, err error) {
	s.row = s.set.Row(int(p.at), s.row)
	row := slices.Clone(s.row)
	state, last := row[:len(row)-1], int(row[len(row)-1])-1
	if p.slot >= 0 { // the one that is preempted goes on elsewhere
		after, _, all, err = s.task(p, row, p.slot, known)
		return after, all, err
	}
	if last >= 0 {
		after, can, all, err := s.task(p, row, last, known)
		if err != nil || !all || s.shown {
			return nil, all, err
		}
		if can {
			for slot := range s.x.Slots {
				if slot != last && !s.w.Finished(state, slot) {
					s.next = append(s.next, preemption{p.at, slot})
				}
			}
			return after, true, nil
		}
	}
	return s.free(p, row, last, known)
}

// free makes the steps of all tasks where a switch is no preemption. The one that has stepped last, and given way by
// itself, comes last.
func (s *preemptive) free(p preemption, row []uint32, last int, known bool) (after []preemption, all bool, err error) {
	moves := false
	stepped := int(s.visits[p.at].slot)
	for i := range s.x.Slots {
		slot := (stepped + len(s.x.Slots) - i) % len(s.x.Slots) // the one pushed last is followed first
		if stepped < 0 {
			slot = len(s.x.Slots) - 1 - i
		}
		if slot == last {
			continue
		}
		more, can, all, err := s.task(p, row, slot, known)
		if err != nil || !all || s.shown {
			return after, all, err
		}
		moves = moves || can
		after = append(after, more...)
	}
	if !moves {
		err = s.end(p, row[:len(row)-1])
	}
	return after, true, err
}

// task makes the next step of one task, in all its ways. It reports whether there is one.
func (s *preemptive) task(p preemption, row []uint32, slot int, known bool) (
	after []preemption, can, all bool, err error) {
	all, err = s.w.ExpandTask(row[:len(row)-1], slot, known)
	if err != nil || !all {
		return nil, false, all, err
	}
	for i := range s.w.Out {
		succ := &s.w.Out[i]
		can = true
		if succ.Bad {
			kind, err := s.x.KindOf(s.w.State(succ))
			if err != nil {
				return nil, true, true, err
			}
			if s.broken(kind, p.at, succ.Choice); s.shown {
				return nil, true, true, nil
			}
			continue
		}
		next := append(slices.Clone(s.w.State(succ)), uint32(slot+1))
		if succ.Asleep {
			next[len(next)-1] = 0
		}
		r := reach{parent: p.at, length: s.visits[p.at].length + 1, slot: int32(slot), which: int32(succ.Choice.Which)}
		if id := s.reach(next, r); id >= 0 {
			after = append(after, preemption{id, -1})
		}
	}
	return after, can, true, nil
}

// end judges a state in which nobody can take a step.
func (s *preemptive) end(p preemption, state []uint32) error {
	if err := s.w.Expand(state); err != nil {
		return err
	}
	bad, _, err := s.x.BadEnd(s.w, state)
	if bad {
		s.broken(scenarios.NoKind, p.at)
	}
	return err
}

// broken notes a schedule that breaks the property after a state, unless one of its kind is known.
func (s *preemptive) broken(kind scenarios.Kind, at int32, last ...sched.Choice) {
	if !slices.ContainsFunc(s.result.Broken, func(b BrokenSchedule) bool { return b.Kind == kind }) {
		s.result.Broken = append(s.result.Broken, BrokenSchedule{kind, append(s.schedule(at), last...), s.bound})
	}
	s.shown = s.shown || kind == s.want
}

// schedule is the way to a state.
func (s *preemptive) schedule(at int32) sched.Schedule {
	out := make(sched.Schedule, s.visits[at].length)
	for i := len(out) - 1; i >= 0; i-- {
		r := s.visits[at]
		out[i] = sched.Choice{Action: sched.Run, Task: s.x.Slots[r.slot].Task, Which: int(r.which)}
		at = r.parent
	}
	return out
}
