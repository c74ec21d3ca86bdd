package search

import (
	"context"
	"fmt"

	"lockpick/sched"
)

// The reference engine: a plain depth-first search over all schedules, each run from
// the start with the program's own code. It merges nothing and learns nothing, so there
// is little to get wrong; the exploration of the graph is checked against it.

// A searched is what a search over all schedules came to.
type searched struct {
	Complete             bool
	Why                  string // not
	Schedules, Contended int
}

// SearchAll runs every schedule, or as many as the budget allows. all makes it go on
// after a violation, to collect every history.
func (t *Tester) SearchAll(ctx context.Context, budget int, all bool) (res searched, first *Outcome, err error) {
	res.Complete = true
	t.Live, t.enumerates = true, true
	d := &sched.DepthFirst{}
	cut := 0
	for {
		o, err := t.Run(d, false)
		if err != nil {
			return res, nil, err
		}
		res.Schedules++
		res.Contended += o.Contended
		if o.Cut {
			cut++
		}
		if o.Broken && (first == nil || o.Cost.Less(first.Cost)) {
			first = &o
		}
		if first != nil && !all {
			res.Complete = false
			break
		}
		// A run cut short by a violation of a history is known to be broken whatever follows.
		if !d.Advance() {
			break
		}
		if res.Schedules >= budget {
			res.Complete, res.Why = false, fmt.Sprintf("the budget of %d schedules ended first", budget)
			break
		}
		if ctx.Err() != nil {
			res.Complete, res.Why = false, fmt.Sprintf("stopped after %d schedules", res.Schedules)
			break
		}
	}
	if cut > 0 && res.Complete {
		res.Complete, res.Why = false, fmt.Sprintf("%d schedules were cut after %d steps", cut, t.MaxSteps)
	}
	return res, first, nil
}

// confirmed is how many schedules are run once more to learn the loops in them.
const confirmed = 1_000

// Confirm reports a retry loop that does something else after many rounds. A search over all
// schedules passes over the rounds of whoever polls in vain, as if the loop were endless.
func (t *Tester) Confirm(ctx context.Context) error {
	t.Live, t.enumerates = false, true
	defer func() { t.Live = true }()
	d := &sched.DepthFirst{}
	for range confirmed {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := t.Run(d, false); err != nil {
			return err
		}
		if !d.Advance() {
			break
		}
	}
	return t.learned.Memo.Unroll(ctx, t.Tried)
}

// Histories counts the distinct histories that were judged.
func (t *Tester) Histories() int {
	if t.Judge == nil {
		return 0
	}
	return t.Judge.Distinct()
}
