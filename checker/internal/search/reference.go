package search

import (
	"context"
	"fmt"

	"lockpick/sched"
)

// The reference engine: a plain depth-first search over all schedules, each run from
// the start with the program's own code. It merges nothing and learns nothing, so there
// is little to get wrong; the exploration of the graph is checked against it.
//
// It passes over one kind of choice: the step of a task that has polled for a whole
// round in vain while nothing has changed. Such a round ends where it began.

// DepthFirst is the strategy of one run of the search.
type DepthFirst struct {
	Path []branch
}

type branch struct {
	options []sched.Choice
	next    int
}

// Next implements sched.Strategy: the path so far, then the first option each time.
func (d *DepthFirst) Next(v *sched.View) (sched.Choice, error) {
	if v.Step == len(d.Path) {
		b := branch{options: progressOptions(v)}
		d.Path = append(d.Path, b)
	}
	b := &d.Path[v.Step]
	if len(b.options) == 0 {
		return sched.Choice{}, sched.ErrEnd
	}
	return b.options[b.next], nil
}

// progressOptions are all options but the steps of idle tasks.
func progressOptions(v *sched.View) []sched.Choice {
	var out []sched.Choice
	all := v.Options(nil)
	for _, c := range all {
		idle := false
		for i := range v.Tasks {
			idle = idle || !c.IsFault() && v.Tasks[i].Task == c.Task && v.Tasks[i].Idle
		}
		if !idle {
			out = append(out, c)
		}
	}
	return out
}

// Advance moves to the next schedule, given how many steps of the path the last run
// used; it reports false when there is none.
func (d *DepthFirst) Advance(used int) bool {
	d.Path = d.Path[:min(used, len(d.Path))]
	for n := len(d.Path); n > 0; n-- {
		b := &d.Path[n-1]
		if b.next++; b.next < len(b.options) {
			return true
		}
		d.Path = d.Path[:n-1]
	}
	return false
}

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
	d := &DepthFirst{}
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
		if !d.Advance(len(d.Path)) {
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
	d := &DepthFirst{}
	for range confirmed {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, err := t.Run(d, false); err != nil {
			return err
		}
		if !d.Advance(len(d.Path)) {
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
