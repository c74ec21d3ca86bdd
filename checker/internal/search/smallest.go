package search

import (
	"context"
	"errors"
	"strings"
	"unsafe"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// smallest finds the smallest counterexample: fewest crashes and stalls, then fewest
// preemptions, then fewest steps, and of those the first in the order of choices (A
// before B, steps before kills before stalls before losses of power). It is a search in
// the order of cost, over states together with who could be preempted; the first violation
// that comes up in that order is provably the smallest. It runs on one worker.
//
// Of two ways to a state at one cost it keeps the one that comes first in the order of
// choices. Both have equally many choices, so the ways that go on from there keep that
// order, and the result is the same whatever the order in which equals were found.
type smallest struct {
	x      *Explorer
	w      *engine.Expander
	set    *table.States
	best   []int32 // by state: its visit
	visits []visit
	queue  costQueue
	target Target
	limit  *limit
	row    []uint32 // room for one
}

// A Target says what the search looks for, and where it may look.
type Target struct {
	// goal, when not nil, is the state to reach; nil means a violation.
	goal func(state []uint32) bool
	// Preemptions, when not nil, bounds them; pruned is set when that left anything out.
	Preemptions *int
	Pruned      bool
	// Kind is that of the violations that are looked for; [scenarios.NoKind] is any. Others is set when some of other
	// kinds were met.
	Kind   scenarios.Kind
	Others bool
	// NoFaults leaves schedules with faults out.
	NoFaults bool
	// Limits bounds the search. Beside is the memory that is taken already, and counts.
	Limits Limits
	Beside int
	// Monitors has the search remember monitors instead of histories. It finds the same, in
	// fewer states; but when it finds nothing, porcupine was not asked.
	Monitors bool
	// Stored is how many states it has stored in the end, and Transitions how many it has
	// looked at. Contended of these met somebody else's lock.
	Stored, Transitions, Contended int
}

// A visit is one entry of the search: a state, reached at a cost.
type visit struct {
	parent int32
	length int32 // choices so far
	choice sched.Choice
	cost   trace.Cost
	bad    bool
}

// FindSmallest returns the smallest schedule that reaches the target, or nil when there
// is none. An [EndedError] says that a budget ended first.
func (x *Explorer) FindSmallest(ctx context.Context, tg *Target) (sched.Schedule, error) {
	if tg.Monitors {
		defer x.RememberMonitors()()
	}
	found, err := x.searchSmallest(ctx, tg)
	if err != nil {
		return nil, err
	}
	if found == nil {
		err := x.Histories.FinalCheck(ctx, 1)
		if err != nil && errors.Is(err, ctx.Err()) {
			err = stopped(err)
		}
		return nil, err
	}
	return found, x.Histories.Fault()
}

func (x *Explorer) searchSmallest(ctx context.Context, tg *Target) (sched.Schedule, error) {
	s := &smallest{x: x, w: engine.NewExpander(x.Space), set: table.NewStates(x.Width()+1, 1), target: *tg}
	s.limit = newLimit(ctx, tg.Limits, func() int { return tg.Beside + s.bytes() },
		func() int { return x.Learned().Coroutines })
	defer s.limit.release()
	s.queue.push(append(append([]uint32(nil), x.Initial...), 0), visit{parent: -1})
	defer func() { *tg = s.target; tg.Stored = s.set.Len() }()
	for {
		b, ok := s.queue.pop()
		if !ok {
			return nil, nil
		}
		if found := s.firstBad(b); found != nil {
			return s.schedule(found), nil
		}
		fresh := s.settle(b)
		var bad []visit
		for i, at := range fresh {
			if i%256 == 0 {
				if s.limit.check(s.set.Len(), false); s.limit.hit() {
					return nil, s.limit.err()
				}
			}
			isBad, err := s.expand(at)
			if err != nil {
				return nil, err
			}
			if isBad {
				bad = append(bad, s.visits[at])
			}
		}
		if len(bad) > 0 {
			return s.schedule(s.firstBad(&costBucket{visits: bad, all: true})), nil
		}
	}
}

// bytes is the memory of the search.
func (s *smallest) bytes() int {
	return s.x.Bytes(s.set) + int(unsafe.Sizeof(visit{})+4)*cap(s.visits) + s.queue.bytes()
}

// firstBad returns the violation in a bucket that comes first in the order of choices.
func (s *smallest) firstBad(b *costBucket) *visit {
	var best *visit
	for i := range b.visits {
		v := &b.visits[i]
		if (v.bad || b.all) && (best == nil || s.before(v, best)) {
			best = v
		}
	}
	return best
}

// settle adds the states of a bucket that are new, each by the way that comes first,
// and returns their visits.
func (s *smallest) settle(b *costBucket) []int32 {
	start := len(s.visits)
	for i := range b.visits {
		v := b.visits[i]
		row := b.row(i)
		id, isNew := s.set.Insert(row)
		if isNew {
			s.best = append(s.best, int32(len(s.visits)))
			s.visits = append(s.visits, v)
			continue
		}
		if at := s.best[id]; int(at) >= start && s.before(&v, &s.visits[at]) {
			s.visits[at] = v
		}
	}
	fresh := make([]int32, 0, len(s.visits)-start)
	for at := start; at < len(s.visits); at++ {
		fresh = append(fresh, int32(at))
	}
	return fresh
}

// before reports whether the way to a comes before the way to b. Ways of one length are
// compared from where they part.
func (s *smallest) before(a, b *visit) bool {
	if a.length != b.length {
		return a.length < b.length
	}
	order := 0
	for a.parent >= 0 && b.parent >= 0 {
		if c := CompareChoices(a.choice, b.choice); c != 0 {
			order = c
		}
		if a.parent == b.parent {
			break
		}
		a, b = &s.visits[a.parent], &s.visits[b.parent]
	}
	return order < 0
}

// CompareChoices orders choices as sched.View.Options does.
func CompareChoices(a, b sched.Choice) int {
	if a.Action != b.Action {
		return int(a.Action) - int(b.Action)
	}
	if a.Task.Process != b.Task.Process {
		return a.Task.Process - b.Task.Process
	}
	if a.Task.N != b.Task.N {
		return a.Task.N - b.Task.N
	}
	if a.State != b.State {
		return a.State - b.State
	}
	if a.Fails != b.Fails {
		return strings.Compare(a.Fails, b.Fails)
	}
	return a.Which - b.Which
}

// expand pushes what follows a visited state, or reports that the state itself is what
// is looked for. The last number in its row is who stepped last, from 1, or 0 when a
// switch costs nothing: that task has given way by itself.
func (s *smallest) expand(at int32) (bool, error) {
	v := s.visits[at]
	row := s.set.Row(int(at), s.row) // visits are numbered as their states are
	s.row = row
	state := row[:len(row)-1]
	if g := s.target.goal; g != nil && g(state) {
		return true, nil
	}
	last := int(row[len(row)-1]) - 1
	if alone, err := s.alone(v, state, last); err != nil {
		return false, err
	} else if !alone {
		if err := s.w.Expand(state); err != nil {
			return false, err
		}
	}
	if bad, _, err := s.x.BadEnd(s.w, state); bad || err != nil {
		return bad, err
	}
	could := false
	for i := range s.w.Out {
		could = could || last >= 0 && s.w.Out[i].Slot == last
	}
	s.target.Transitions += len(s.w.Out)
	next := make([]uint32, len(row))
	for i := range s.w.Out {
		succ := &s.w.Out[i]
		if succ.Contended {
			s.target.Contended++
		}
		if succ.Bad && s.target.Kind != scenarios.NoKind {
			if kind, err := s.x.KindOf(s.w.State(succ)); err != nil {
				return false, err
			} else if kind != s.target.Kind {
				s.target.Others = true
				continue
			}
		}
		c := v.cost
		c.Add(succ.Choice, could && succ.Slot >= 0 && succ.Slot != last)
		if b := s.target.Preemptions; b != nil && c.Preemptions > *b || s.target.NoFaults && c.Faults() > 0 {
			s.target.Pruned = true
			continue
		}
		copy(next, s.w.State(succ))
		next[len(next)-1] = uint32(succ.Slot + 1)
		if succ.Slot < 0 {
			next[len(next)-1] = row[len(row)-1]
		} else if succ.Asleep {
			next[len(next)-1] = 0
		}
		if !succ.Bad && s.settled(next) {
			continue
		}
		s.queue.push(next, visit{parent: at, length: v.length + 1, choice: succ.Choice, cost: c, bad: succ.Bad && s.target.goal == nil})
	}
	return false, nil
}

// alone expands a state by the steps of the task that stepped last, and reports whether no other successor is within
// the bounds. What others would be told need not be learned then.
func (s *smallest) alone(v visit, state []uint32, last int) (bool, error) {
	if b := s.target.Preemptions; b == nil || v.cost.Preemptions < *b || last < 0 || !s.target.NoFaults {
		return false, nil
	}
	_, err := s.w.ExpandTask(state, last, false, false)
	s.target.Pruned = true
	return err == nil && len(s.w.Out) > 0, err
}

// settled reports whether a state was reached at a lower cost, or at this one.
func (s *smallest) settled(row []uint32) bool {
	_, ok := s.set.Find(row)
	return ok
}

// schedule walks back from a visit.
func (s *smallest) schedule(v *visit) sched.Schedule {
	out := make(sched.Schedule, v.length)
	for i := int(v.length) - 1; v.parent >= 0; i-- {
		out[i] = v.choice
		v = &s.visits[v.parent]
	}
	return out
}
