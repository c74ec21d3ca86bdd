package checker

import (
	"context"
	"runtime"
	"sync/atomic"

	"lockpick/checker/internal/parallel"
	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// A coverage is what an exploration found.
type coverage struct {
	states      *table.States
	transitions int
	violations  int      // transitions or states that break the property
	violated    violated // by what
	met         int
	depth       int
	complete    bool
	why         string
	frontier    int // states seen and not expanded, when not complete
}

// explore visits every state reachable from the roots, level by level, with any number of
// workers.
// A transition that breaks the property is counted and not followed. The counts do not
// depend on the number of workers: a level is a set of states, and every state of it is
// expanded once.
func (x *explorer) explore(ctx context.Context, o Options, roots ...[]uint32) (*coverage, error) {
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, parallel.MaxWorkers)
	c := &coverage{states: table.NewStates(x.width(), workers), violated: violated{}}
	crew := make([]*crewman, workers)
	for i := range crew {
		crew[i] = &crewman{worker: newWorker(x), set: c.states, boxes: make([][]uint32, workers), violated: violated{}}
		if x.reduce {
			crew[i].symmetry = newSymmetry(x)
		}
	}
	for _, row := range roots {
		c.states.Insert(row)
	}
	limit := newLimit(ctx, x, c.states, o)
	level := c.states.Batches(make([]int, workers), batchStates)
	for n := c.states.Len(); n > 0; c.depth++ {
		if o.Progress != nil {
			o.Progress(x.progress(c, n))
		}
		before := c.states.Sizes()
		left, err := x.level(crew, level, limit)
		c.collect(crew)
		if err != nil {
			return nil, err
		}
		level = c.states.Batches(before, batchStates)
		n = c.states.Len() - sum(before) + left
		if limit.hit() {
			c.why = limit.why(c, n)
			c.frontier = n
			return c, x.histories.Fault()
		}
	}
	c.complete = true
	if err := x.histories.FinalCheck(workers); err != nil {
		return nil, err
	}
	return c, x.verify(crew[0].worker)
}

// A crewman is one worker of a parallel exploration, with its share of the counts.
type crewman struct {
	*worker
	set                          *table.States
	boxes                        [][]uint32 // for each shard: states for it
	symmetry                     *symmetry  // nil for none
	transitions, violations, met int
	violated                     violated
	err                          error
	_                            [parallel.CacheLine]byte
}

// A batch is a piece of a level: some states of one shard that lie together. A round is
// some batches of each shard. In a round the workers first expand, each into a box for
// every shard, and then each stores what is in the boxes for its own shard. So nobody
// waits for a lock, and no two write where the other reads. A worker expands what it has
// stored itself, which its caches may still know, and then helps others.
const (
	batchStates  = 256
	roundBatches = 64
)

// level expands the states of one level, and returns how many were left when a limit was
// hit.
func (x *explorer) level(crew []*crewman, batches [][][]uint32, limit *limit) (left int, err error) {
	for {
		round := make([]queue, len(crew))
		n := 0
		for k := range batches {
			take := min(roundBatches, len(batches[k]))
			if len(crew) == 1 {
				take = min(1, take) // a limit need not wait for the end of a round
			}
			round[k].batches, batches[k] = batches[k][:take], batches[k][take:]
			n += take
		}
		if n == 0 {
			return 0, nil
		}
		if err := x.round(crew, round, n); err != nil {
			return 0, err
		}
		if limit.check(); limit.hit() {
			break
		}
	}
	for _, list := range batches {
		for _, b := range list {
			left += len(b) / x.width()
		}
	}
	return left, nil
}

// A queue is the batches of one shard in a round.
type queue struct {
	batches [][]uint32
	taken   atomic.Int64
	_       [parallel.CacheLine]byte
}

// next takes a batch, or returns nil when all are taken.
func (q *queue) next() []uint32 {
	if i := int(q.taken.Add(1)) - 1; i < len(q.batches) {
		return q.batches[i]
	}
	return nil
}

// round expands n batches and stores what they lead to.
func (x *explorer) round(crew []*crewman, queues []queue, n int) error {
	expand := func(k int) {
		w := crew[k]
		for i := range queues {
			q := &queues[(k+i)%len(queues)]
			for b := q.next(); b != nil && w.err == nil; b = q.next() {
				w.run(b)
			}
		}
	}
	if n == 1 { // not worth waking anybody
		expand(0)
	} else {
		parallel.Together(len(crew), expand)
	}
	for _, w := range crew {
		if w.err != nil {
			return w.err
		}
	}
	parallel.Together(len(crew), func(k int) {
		for _, from := range crew {
			crew[k].set.Shards[k].Store(from.boxes[k], x.width())
			from.boxes[k] = from.boxes[k][:0]
		}
	})
	return nil
}

func sum(ns []int) int {
	total := 0
	for _, n := range ns {
		total += n
	}
	return total
}

// run expands a batch of states.
func (w *crewman) run(batch []uint32) {
	width := w.x.width()
	for ; len(batch) > 0; batch = batch[width:] {
		if w.err = w.expand(batch[:width]); w.err != nil {
			return
		}
		bad, _, err := w.x.badEnd(w.worker, batch[:width])
		if err != nil {
			w.err = err
			return
		}
		if bad {
			w.violations++
			w.violated[w.x.violation(batch)] = struct{}{}
		}
		for i := range w.out {
			s := &w.out[i]
			w.transitions++
			if s.met {
				w.met++
			}
			if s.bad {
				w.violations++
				w.violated[w.x.violation(w.state(s))] = struct{}{}
				continue
			}
			words := w.state(s)
			if w.symmetry != nil {
				w.symmetry.canonical(words)
			}
			box := &w.boxes[w.set.ShardOf(words)]
			*box = append(*box, words...)
		}
	}
}

// collect moves the workers' counts into the coverage.
func (c *coverage) collect(crew []*crewman) {
	for _, w := range crew {
		c.transitions += w.transitions
		c.violations += w.violations
		c.met += w.met
		c.violated.add(w.violated)
		clear(w.violated)
		w.transitions, w.violations, w.met = 0, 0, 0
	}
}

// badEnd reports whether the state that w expanded last breaks a property of the graph
// by itself: a deadlock, or a wedge; with what everybody waits for.
func (x *explorer) badEnd(w *worker, s []uint32) (bool, []trace.Wait, error) {
	switch x.property.Question {
	case scenarios.LockedOut:
		if w.unfinished {
			return false, nil, nil
		}
		m, _ := x.machines.get(s[wordMachine], 0)
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.prober.wedged(m)
	case scenarios.Stuck:
		if !w.unfinished || len(w.out) > 0 && w.out[0].slot >= 0 {
			return false, nil, nil
		}
		var waits []trace.Wait
		for i := range x.slots {
			if finished, _ := w.status(s, i); !finished {
				waits = append(waits, trace.Wait{How: trace.WaitsInCall, Task: x.slots[i].task, Call: x.op(s, i)})
			}
		}
		return true, waits, nil
	}
	return false, nil, nil
}

func (x *explorer) progress(c *coverage, frontier int) Progress {
	return Progress{
		Scenario: x.sc.ID, Property: x.property, States: c.states.Len(), Transitions: c.transitions,
		Depth: c.depth, Frontier: frontier, Bytes: x.bytes(c.states),
	}
}

// bytes is the memory of everything that grows with the exploration.
func (x *explorer) bytes(set *table.States) int {
	_, m := x.machines.count()
	_, p := x.histories.Count()
	return set.Bytes() + m + p + x.moves.Bytes() + x.steps.Bytes()
}
