package checker

import (
	"context"
	"fmt"

	"lockpick/sched"
)

// smallest finds the smallest counterexample: fewest crashes and stalls, then fewest
// preemptions, then fewest steps, and of those the first in the order in which the
// search tries choices. It is a breadth-first search in the order of cost, over states
// together with who could be preempted; the first violation that comes up in that order
// is provably the smallest. It runs on one worker, so that two runs find the same.
type smallest struct {
	x      *explorer
	w      *worker
	set    *stateSet
	found  []visit
	queue  costQueue
	bounds *int // preemptions, nil for none
}

// A visit is one entry of the search: a state, reached at a cost.
type visit struct {
	parent int32
	choice sched.Choice
	cost   Cost
	bad    bool
}

// findSmallest returns the schedule, and whether ctx allowed the search to end.
func (x *explorer) findSmallest(ctx context.Context, o Options) (sched.Schedule, error) {
	s := &smallest{x: x, w: newWorker(x), set: newStateSet(x.width()+1, 1), bounds: o.Preemptions}
	start := append(append([]uint32(nil), x.initial...), 0)
	s.push(start, visit{parent: -1})
	for n := 0; ; n++ {
		row, v, ok := s.queue.pop()
		if !ok {
			return nil, nil
		}
		if n%1024 == 0 && ctx.Err() != nil {
			return nil, fmt.Errorf("checker: %s is broken, but the search for the smallest schedule was stopped: %w", x.sc.ID, ctx.Err())
		}
		if v.bad {
			s.found = append(s.found, v)
			return s.schedule(len(s.found) - 1), nil
		}
		if _, isNew := s.set.insert(row); !isNew {
			continue
		}
		s.found = append(s.found, v)
		if err := s.expand(row, int32(len(s.found)-1), v.cost); err != nil {
			return nil, err
		}
	}
}

// expand pushes what follows a state. The last word of row is who stepped last, from 1,
// or 0 when a switch costs nothing: that task has given way by itself.
func (s *smallest) expand(row []uint32, at int32, cost Cost) error {
	x, last := s.x, int(row[len(row)-1])-1
	state := row[:len(row)-1]
	if err := s.w.expand(state); err != nil {
		return err
	}
	bad, _, err := x.badEnd(s.w, state)
	if err != nil {
		return err
	}
	if bad {
		v := s.found[at]
		v.bad = true
		s.push(row, v)
		return nil
	}
	could := false
	for i := range s.w.out {
		could = could || last >= 0 && s.w.out[i].slot == last
	}
	next := make([]uint32, len(row))
	for i := range s.w.out {
		succ := &s.w.out[i]
		c := cost
		c.add(succ.choice, could && succ.slot >= 0 && succ.slot != last)
		if s.bounds != nil && c.Preemptions > *s.bounds {
			continue
		}
		copy(next, s.w.state(succ))
		switch {
		case succ.slot < 0:
			next[len(next)-1] = row[len(row)-1]
		case succ.asleep:
			next[len(next)-1] = 0
		default:
			next[len(next)-1] = uint32(succ.slot + 1)
		}
		s.push(next, visit{parent: at, choice: succ.choice, cost: c, bad: succ.bad})
	}
	return nil
}

func (s *smallest) push(row []uint32, v visit) { s.queue.push(row, v) }

// schedule walks back from a visit.
func (s *smallest) schedule(at int) sched.Schedule {
	var rev sched.Schedule
	v := s.found[at]
	for v.parent >= 0 {
		rev = append(rev, v.choice)
		v = s.found[v.parent]
	}
	out := make(sched.Schedule, len(rev))
	for i, c := range rev {
		out[len(rev)-1-i] = c
	}
	return out
}

// A costQueue hands out visits in the order of their costs, and of equal ones in the
// order in which they came. Costs are small numbers, so it is a queue of queues.
type costQueue struct {
	buckets []costBucket // sorted by cost
}

type costBucket struct {
	cost   Cost
	rows   []uint32
	visits []visit
	head   int
}

func (q *costQueue) push(row []uint32, v visit) {
	lo, hi := 0, len(q.buckets)
	for lo < hi {
		mid := (lo + hi) / 2
		if q.buckets[mid].cost.Less(v.cost) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(q.buckets) || v.cost.Less(q.buckets[lo].cost) {
		q.buckets = append(q.buckets, costBucket{})
		copy(q.buckets[lo+1:], q.buckets[lo:])
		q.buckets[lo] = costBucket{cost: v.cost}
	}
	b := &q.buckets[lo]
	b.rows = append(b.rows, row...)
	b.visits = append(b.visits, v)
}

func (q *costQueue) pop() ([]uint32, visit, bool) {
	for len(q.buckets) > 0 {
		b := &q.buckets[0]
		if b.head < len(b.visits) {
			width := len(b.rows) / len(b.visits)
			i := b.head
			b.head++
			return b.rows[i*width : (i+1)*width], b.visits[i], true
		}
		q.buckets = q.buckets[1:]
	}
	return nil, visit{}, false
}
