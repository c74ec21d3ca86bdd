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
//
// A program that polls may go round a hundred times before others go on, and takes another path each time. Where that
// is too much, fair schedules are made: see stance.
type preemptive struct {
	x      *Explorer
	w      *engine.Expander
	set    *table.States // rows with a stance
	visits []reach       // by state
	limit  *limit
	row    []uint32
	// pending is what follows where programs must be executed, and later the
	// preemptions that lie beyond the bound.
	pending, later []preemption
	result         *Preempted
	bound          int // at which schedules are made
	place, places  int // that is tried, of so many
	want           scenarios.Kind
	shown          bool // a schedule of kind want is known
	deep           bool // some schedule was left where it became too long
	fair           bool
	// sleeps counts the steps of a bound with which a task gave way. With many and mostExecutions it polls, and ends.
	sleeps, mostExecutions int
	polls                  bool
}

// A stance is who stepped last, and what comes of its sleeps. In fair schedules a task that sleeps lets others go on
// first, as in a fair scheduler (Musuvathi and Qadeer, PLDI 2008); to go on itself would be another preemption. But
// after each preemption the first to sleep may do either: let the others go on, or go on through all of its sleeps.
type stance struct {
	slot int // -1 where a switch is no preemption
	how  how
}

// A how is what a task does when it sleeps.
type how uint32

const (
	chooses how = iota
	yields      // and so do all until the next preemption
	slept       // it has just yielded
	goesOn
	hows
)

func (s stance) word() uint32 {
	if s.slot < 0 {
		return 0
	}
	return 1 + uint32(s.slot)*uint32(hows) + uint32(s.how)
}

func stanceOf(word uint32) stance {
	if word == 0 {
		return stance{slot: -1}
	}
	return stance{int((word - 1) / uint32(hows)), how((word - 1) % uint32(hows))}
}

// next lists the stances after a step of a task.
func (s *preemptive) next(was stance, slot int, asleep bool) []stance {
	switch {
	case !s.fair && asleep:
		return []stance{{slot: -1}}
	case !s.fair:
		return []stance{{slot: slot}}
	case was.how == goesOn && was.slot == slot:
		return []stance{was}
	case !asleep && was.how == chooses:
		return []stance{{slot, chooses}}
	case !asleep:
		return []stance{{slot, yields}}
	case was.how == chooses:
		return []stance{{slot, goesOn}, {slot, slept}} // the one listed last is followed first
	}
	return []stance{{slot, slept}}
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
	// Fair: only fair schedules were made, in which whoever sleeps lets the others go on, or sleeps through to its end.
	Fair bool
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
	s := &preemptive{x: x, want: want}
	for {
		x.RelyOnFootprint()
		p, err := s.coverAll(ctx, o, most, sure, beyond)
		switch {
		case err == nil && s.polls && !s.fair:
			s = &preemptive{x: x, want: want, fair: true}
		case err == nil && o.Local && !s.shown && x.FootprintRefuted():
			s = &preemptive{x: x, want: want, fair: s.fair}
		default:
			return p, err
		}
	}
}

func (s *preemptive) coverAll(ctx context.Context, o Limits, most, sure int, beyond Limits) (*Preempted, error) {
	x := s.x
	s.w, s.set = engine.NewExpander(x.Space), table.NewStates(x.Width()+1, 1)
	s.result = &Preempted{Bound: -1, Fair: s.fair}
	s.limit = newLimit(ctx, o, s.bytes, func() int { return x.Learned().Coroutines })
	defer s.limit.release()
	s.later = []preemption{{at: s.reach(append(slices.Clone(x.Initial), 0), reach{parent: -1, slot: -1}), slot: -1}}
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
	case s.polls:
		s.result.Ended = &EndedError{Why: "there are too many sequences of rounds of polling"}
	}
	return s.result, err
}

// longSchedule is how many steps of a schedule are followed: whoever polls and counts may have no end.
const longSchedule = 20_000

// Only fair schedules are made when tasks have given way more than manySleeps times in a bound, and programs were
// executed more than pollExecutions times, and once more for each placesEach places.
const manySleeps, pollExecutions, placesEach = 100, 48, 8

// cover goes from bound to bound, with every place at which the schedules of one are preempted.
func (s *preemptive) cover(most int) error {
	for bound := s.result.Bound + 1; !s.done(); bound++ {
		s.bound = bound
		places := s.later
		s.later, s.sleeps = nil, 0
		s.mostExecutions = s.x.Learned().Coroutines + pollExecutions + len(places)/placesEach
		s.places = len(places)
		for i, p := range places {
			s.place = i
			if s.tell(); s.done() {
				return nil
			}
			if err := s.follow(p, true); err != nil {
				return err
			}
		}
		pending := s.pending
		s.pending, s.places = nil, max(len(places), len(pending))
		for i, p := range pending {
			s.place = s.places - len(pending) + i
			if s.tell(); s.done() {
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
		if s.result.Whole = len(s.later) == 0; s.result.Whole || bound == most {
			return nil
		}
	}
	return nil
}

func (s *preemptive) done() bool {
	s.limit.check(s.set.Len(), false)
	s.polls = s.polls || !s.fair && s.sleeps > manySleeps && s.x.Learned().Coroutines > s.mostExecutions
	return s.limit.hit() || s.shown || s.polls
}

// tell tells of the progress.
func (s *preemptive) tell() {
	if s.limit.o.Progress != nil {
		l := s.x.Learned()
		s.limit.o.Progress(Progress{
			States: s.set.Len(), Bytes: s.bytes(), Executions: l.Coroutines, Learned: l.Edges,
			Preemptions: s.bound, Place: s.place, Places: s.places,
		})
	}
}

func (s *preemptive) bytes() int {
	return s.x.Bytes(s.set) + int(unsafe.Sizeof(reach{}))*cap(s.visits) + int(unsafe.Sizeof(preemption{}))*cap(s.later)
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
			if s.tell(); s.done() {
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
	state, was := row[:len(row)-1], stanceOf(row[len(row)-1])
	if p.slot >= 0 { // the one that is preempted goes on elsewhere
		after, _, all, err = s.task(p, row, stance{slot: -1}, p.slot, known)
		return after, all, err
	}
	if was.slot >= 0 && was.how != slept {
		after, can, all, err := s.task(p, row, was, was.slot, known)
		if err != nil || !all || s.shown {
			return nil, all, err
		}
		if can {
			for slot := range s.x.Slots {
				if slot != was.slot && !s.w.Finished(state, slot) {
					s.later = append(s.later, preemption{p.at, slot})
				}
			}
			return after, true, nil
		}
	}
	return s.free(p, row, was, known)
}

// free makes the steps of all tasks where a switch is no preemption. The one that has stepped last, and given way by
// itself, comes last.
func (s *preemptive) free(p preemption, row []uint32, was stance, known bool) (
	after []preemption, all bool, err error) {
	moves := false
	stepped := int(s.visits[p.at].slot)
	for i := range s.x.Slots {
		slot := (stepped + len(s.x.Slots) - i) % len(s.x.Slots) // the one pushed last is followed first
		if stepped < 0 {
			slot = len(s.x.Slots) - 1 - i
		}
		if slot == was.slot {
			continue
		}
		more, can, all, err := s.task(p, row, was, slot, known)
		if err != nil || !all || s.shown {
			return after, all, err
		}
		moves = moves || can
		after = append(after, more...)
	}
	switch {
	case was.how == slept && moves:
		s.later = append(s.later, preemption{p.at, was.slot})
	case was.how == slept:
		if after, moves, all, err = s.task(p, row, was, was.slot, known); err != nil || !all || s.shown {
			return nil, all, err
		}
	}
	if !moves {
		err = s.end(p, row[:len(row)-1])
	}
	return after, true, err
}

// task makes the next step of one task, in all its ways. It reports whether there is one.
func (s *preemptive) task(p preemption, row []uint32, was stance, slot int, known bool) (
	after []preemption, can, all bool, err error) {
	all, err = s.w.ExpandTask(row[:len(row)-1], slot, s.limit.o.Local, known)
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
		if succ.Asleep {
			s.sleeps++
		}
		r := reach{parent: p.at, length: s.visits[p.at].length + 1, slot: int32(slot), which: int32(succ.Choice.Which)}
		for _, is := range s.next(was, slot, succ.Asleep) {
			if id := s.reach(append(slices.Clone(s.w.State(succ)), is.word()), r); id >= 0 {
				after = append(after, preemption{id, -1})
			}
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
