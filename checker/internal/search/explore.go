package search

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/parallel"
	"lockpick/checker/internal/table"
	"lockpick/scenarios"
)

// A Coverage is what an exploration found.
type Coverage struct {
	States      *table.States
	Transitions int
	Violations  int // transitions or states that break the property
	Contended   int
	Depth       int
	Complete    bool
	Why         string
	Enough      bool // not complete, because a violation was seen and that was enough
	Outrun      bool // not complete, because programs were run too often
	// alone has, by the number of a state, whose local step was followed alone, plus 1; 0 where all steps were
	// followed. It is nil without [Limits].Local.
	alone []uint8
	// seen is, by the kind of a violation, the state in which one was seen first, or after one choice from it.
	seen map[scenarios.Kind]int
}

// Count counts the states.
func (c *Coverage) Count() int { return c.States.Len() }

// Reduced reports whether local steps were followed alone; see [Limits].
func (c *Coverage) Reduced() bool { return c.alone != nil }

// Explore visits every state reachable from the roots, level by level, with any number of
// workers.
// A transition that breaks the property is counted and not followed. The counts do not
// depend on the number of workers: a level is a set of states, and every state of it is
// expanded once.
func (x *Explorer) Explore(ctx context.Context, o Limits, roots ...[]uint32) (*Coverage, error) {
	for {
		x.RelyOnFootprint()
		c, w, workers, err := x.cover(ctx, o, roots...)
		if err == nil && !(o.Local && x.FootprintRefuted()) {
			err = x.conclude(ctx, c, w, workers)
		}
		switch {
		case err != nil:
			return c, err
		case !o.Local || !x.FootprintRefuted(): // what is looked at once more may show a change, too
			return c, nil
		}
	}
}

// conclude looks once more at what a coverage rests on, which is complete then, unless a limit
// ended it.
func (x *Explorer) conclude(ctx context.Context, c *Coverage, w *engine.Expander, workers int) error {
	if c.Why != "" {
		if c.Enough {
			return x.checked(ctx, w)
		}
		return x.Histories.Fault()
	}
	err := x.onceMore(ctx, w, workers, c.Violations > 0)
	if err == nil && c.Violations == 0 && x.Joins() {
		err = x.tryRounds(ctx, c)
	}
	if err != nil && errors.Is(err, ctx.Err()) {
		c.Why = fmt.Sprintf("it was stopped while everything was looked at once more: %d states and %d transitions "+
			"covered, which are all", c.Count(), c.Transitions)
		return x.Histories.Fault()
	}
	c.Complete = err == nil
	return err
}

// cover visits the states. Where a limit ended that, the coverage says why. It returns one of the
// workers, who knows the space, and how many there were.
func (x *Explorer) cover(ctx context.Context, o Limits, roots ...[]uint32) (*Coverage, *engine.Expander, int, error) {
	workers := o.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, parallel.MaxWorkers)
	if o.Local {
		workers = 1 // states are numbered in the order in which they are found
	}
	c := &Coverage{
		States: table.NewTree(x.Width(), workers), seen: map[scenarios.Kind]int{},
	}
	pool := make([]*worker, workers)
	for i := range pool {
		pool[i] = &worker{
			Expander: engine.NewExpander(x.Space), set: c.States, boxes: make([][]uint32, workers),
			seen: map[scenarios.Kind]int{}, found: table.NewFound(c.States),
			symmetry: engine.NewSymmetry(x.Space),
		}
	}
	for _, row := range roots {
		c.States.Insert(row)
	}
	for k := range pool {
		pool[k].found.AddFrom(k, 0)
	}
	limit := newLimit(ctx, o, func() int { return x.Bytes(c.States) }, func() int { return x.Learned().Coroutines })
	defer limit.release()
	for n := c.States.Len(); n > 0; c.Depth++ {
		if o.Progress != nil {
			o.Progress(x.soFar(c, n))
		}
		stored, left := c.States.Len(), n
		if o.Local {
			c.alone = append(c.alone, make([]uint8, stored-len(c.alone))...)
			pool[0].alone = c.alone
		}
		if o.Local && x.FootprintRefuted() {
			return c, nil, 0, nil
		}
		if limit.check(stored, false); !limit.hit() { // whoever is told of the progress may end it
			var err error
			if left, err = x.level(pool, limit, c.Violations > 0); err != nil {
				return nil, nil, 0, err
			}
			c.collect(pool)
		}
		n = c.States.Len() - stored + left
		if limit.hit() {
			c.Why = limit.why(c, n)
			c.Enough, c.Outrun = limit.kind.Load() == enough, limit.kind.Load() == executionsEnded
			break
		}
	}
	return c, pool[0].Expander, workers, nil
}

// checked looks once more at what was learned, as far as there is time for it.
func (x *Explorer) checked(ctx context.Context, w *engine.Expander) error {
	if err := x.Verify(ctx, w, x.Tried); err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	return x.Histories.Fault()
}

// onceMore looks once more at everything that a space that was covered rests on. The worker
// is one that knows the space.
func (x *Explorer) onceMore(ctx context.Context, g *engine.Expander, workers int, broken bool) error {
	if err := x.Histories.FinalCheck(ctx, workers); err != nil || x.Believes {
		return err
	}
	if err := x.Verify(ctx, g, x.Tried); err != nil || broken {
		return err
	}
	return x.Unroll(ctx, workers, x.Tried)
}

// Confirm looks once more at everything that a space rests on in which nothing is broken.
func (x *Explorer) Confirm(ctx context.Context) error {
	return x.onceMore(ctx, engine.NewExpander(x.Space), 1, false)
}

// A worker is one of a parallel exploration, with its share of the counts.
type worker struct {
	*engine.Expander
	set                                *table.States
	boxes                              [][]uint32       // for each shard: states for it
	found                              *table.Found     // the new ones among these, in this level
	rows                               []uint32         // room for those of a batch
	symmetry                           *engine.Symmetry // nil for none
	transitions, violations, contended int
	seen                               map[scenarios.Kind]int // the first state in which, or after which, one was seen
	alone                              []uint8                // of the coverage, up to this level; nil for not
	err                                error
	_                                  [parallel.CacheLine]byte
}

// A batch is a piece of a level: some states of one shard that lie together. A round is
// some batches of each shard. In a round the workers first expand, each into a box for
// every shard; each stores what it finds for its own shard at once, and in the end what is in the
// boxes of the others. So nobody waits for a lock, and no two write where the other reads. A worker
// expands what it has found itself, of all shards in turn, as one worker would: states that were found
// together lead to the same states. Then it helps others.
const (
	batchStates  = 256 // of one worker; of several they are so many together, one of each shard
	roundBatches = 64
)

// level expands the states of one level, and returns how many were left when a limit was
// hit. violated says whether a violation was seen before.
func (x *Explorer) level(pool []*worker, limit *limit, violated bool) (left int, err error) {
	batches := make([][]table.Batch, len(pool))
	for k, w := range pool {
		batches[k] = w.found.Batches(max(1, batchStates/len(pool)))
	}
	for {
		round := make([]table.Queue, len(pool))
		n := 0
		for k := range batches {
			take := min(roundBatches*len(pool), len(batches[k]))
			if len(pool) == 1 {
				take = min(1, take) // a limit need not wait for the end of a round
			}
			round[k].Batches, batches[k] = batches[k][:take], batches[k][take:]
			n += take
		}
		if n == 0 {
			return 0, nil
		}
		if err := x.round(pool, round, n, limit); err != nil {
			return 0, err
		}
		for _, w := range pool {
			violated = violated || w.violations > 0
		}
		if limit.check(pool[0].set.Len(), violated); limit.hit() {
			for i := range round {
				for b := round[i].Next(true); b != nil; b = round[i].Next(true) {
					left += b.Len() // an interrupt does not wait for the end of a round
				}
			}
			break
		}
	}
	for _, list := range batches {
		for _, b := range list {
			left += b.Len()
		}
	}
	return left, nil
}

// round expands n batches and stores what they lead to.
func (x *Explorer) round(pool []*worker, queues []table.Queue, n int, limit *limit) error {
	expand := func(k int) {
		w := pool[k]
		for i := range queues {
			q := &queues[(k+i)%len(queues)]
			for w.err == nil && !limit.hit() {
				b := q.Next(i == 0)
				if b == nil {
					break
				}
				w.rows = b.Load(w.rows)
				w.run(b)
				w.keep(k) // its caches still have them
			}
		}
	}
	if n == 1 { // not worth waking anybody
		expand(0)
	} else {
		parallel.Together(len(pool), expand)
	}
	for _, w := range pool {
		if w.err != nil {
			return w.err
		}
	}
	if len(pool) > 1 {
		parallel.Together(len(pool), func(k int) {
			for _, from := range pool {
				from.keep(k)
			}
		})
	}
	return nil
}

// keep stores what the worker has found for a shard. Only one worker at a time may store into it.
func (w *worker) keep(shard int) {
	w.found.Store(shard, w.boxes[shard])
	w.boxes[shard] = w.boxes[shard][:0]
}

// run expands a batch of states.
func (w *worker) run(batch *table.Batch) {
	for i := range batch.Len() {
		id, row := batch.At(i)
		upTo := batch.Len()
		if len(w.boxes) > 1 { // others ask as well
			upTo = i + 1
		}
		if w.err = w.expand(batch, i, upTo); w.err != nil {
			return
		}
		bad, _, err := w.X.BadEnd(w.Expander, row)
		if err != nil {
			w.err = err
			return
		}
		if bad {
			w.sees(id, row)
		}
		for i := range w.Out {
			s := &w.Out[i]
			w.transitions++
			if s.Contended {
				w.contended++
			}
			if s.Bad {
				w.sees(id, w.State(s))
				continue
			}
			words := w.State(s)
			w.symmetry.Canonical(words)
			box := &w.boxes[w.set.ShardOf(words)]
			*box = append(append(*box, words...), uint32(id)+1)
		}
	}
}

// expand expands a state of a batch. It follows a local step alone where that leads to a state not yet expanded.
func (w *worker) expand(batch *table.Batch, i, upTo int) error {
	if w.alone == nil || w.symmetry != nil {
		return w.ExpandAhead(batch.At, i, upTo)
	}
	id, row := batch.At(i)
	slot, err := w.ExpandLocal(row, func(words []uint32) bool {
		at, stored := w.set.Find(words)
		return !stored || at >= len(w.alone)
	})
	if slot < 0 && err == nil {
		return w.ExpandAhead(batch.At, i, i+1) // those after it may be expanded by one step
	}
	w.alone[id] = uint8(slot + 1)
	return err
}

// sees counts a violation, which a state is, or which a choice from it leads to.
func (w *worker) sees(id int, violation []uint32) {
	kind, err := w.X.KindOf(violation)
	if w.err = err; err != nil {
		return
	}
	if at, ok := w.seen[kind]; !ok || id < at {
		w.seen[kind] = id
	}
	w.violations++
}

// collect moves the workers' counts into the coverage.
func (c *Coverage) collect(pool []*worker) {
	earlier := maps.Clone(c.seen)
	for _, w := range pool {
		for kind, at := range w.seen { // order does not matter: the smallest of each is kept
			_, was := earlier[kind]
			if old, ok := c.seen[kind]; !was && (!ok || at < old) {
				c.seen[kind] = at
			}
		}
		c.Transitions += w.transitions
		c.Violations += w.violations
		c.Contended += w.contended
		w.transitions, w.violations, w.contended = 0, 0, 0
	}
}

// Kinds are the kinds of violations that were seen, in order.
func (c *Coverage) Kinds() []scenarios.Kind { return slices.Sorted(maps.Keys(c.seen)) }

// soFar is how far an exploration has come.
func (x *Explorer) soFar(c *Coverage, frontier int) Progress {
	l := x.Learned()
	return Progress{
		States: c.Count(), Transitions: c.Transitions, Depth: c.Depth, Frontier: frontier, Bytes: x.Bytes(c.States),
		Executions: l.Coroutines, Learned: l.Edges,
	}
}
