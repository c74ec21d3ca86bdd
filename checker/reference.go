package checker

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

// depthFirst is the strategy of one run of the search.
type depthFirst struct {
	path []branch
}

type branch struct {
	options []sched.Choice
	next    int
}

// Next implements sched.Strategy: the path so far, then the first option each time.
func (d *depthFirst) Next(v *sched.View) (sched.Choice, error) {
	if v.Step == len(d.path) {
		b := branch{options: livelyOptions(v)}
		d.path = append(d.path, b)
	}
	b := &d.path[v.Step]
	if len(b.options) == 0 {
		return sched.Choice{}, sched.ErrEnd
	}
	return b.options[b.next], nil
}

// livelyOptions are all options but the steps of idle tasks.
func livelyOptions(v *sched.View) []sched.Choice {
	var out []sched.Choice
	all := v.Options(nil)
	for _, c := range all {
		idle := false
		for i := range v.Tasks {
			idle = idle || c.Action == sched.Run && v.Tasks[i].Task == c.Task && v.Tasks[i].Idle
		}
		if !idle {
			out = append(out, c)
		}
	}
	return out
}

// advance moves to the next schedule, given how many steps of the path the last run
// used; it reports false when there is none.
func (d *depthFirst) advance(used int) bool {
	d.path = d.path[:min(used, len(d.path))]
	for n := len(d.path); n > 0; n-- {
		b := &d.path[n-1]
		if b.next++; b.next < len(b.options) {
			return true
		}
		d.path = d.path[:n-1]
	}
	return false
}

// searchAll runs every schedule, or as many as the budget allows. all makes it go on
// after a violation, to collect every history.
func searchAll(ctx context.Context, t *tester, budget int, all bool) (res Result, first *outcome, err error) {
	res.Complete = true
	t.live = true
	d := &depthFirst{}
	cut := 0
	for {
		o, err := t.run(d, false)
		if err != nil {
			return res, nil, err
		}
		res.Stats.Schedules++
		res.Stats.Contended += o.contended
		if o.cut {
			cut++
		}
		if o.broken && (first == nil || o.cost.Less(first.cost)) {
			first = &o
		}
		if first != nil && !all {
			res.Complete = false
			break
		}
		// A run cut short by a violation of a history is known to be broken whatever follows.
		if !d.advance(len(d.path)) {
			break
		}
		if res.Stats.Schedules >= budget {
			res.Complete, res.Why = false, fmt.Sprintf("the budget of %d schedules ended first", budget)
			break
		}
		if ctx.Err() != nil {
			res.Complete, res.Why = false, fmt.Sprintf("stopped after %d schedules", res.Stats.Schedules)
			break
		}
	}
	if cut > 0 && res.Complete {
		res.Complete, res.Why = false, fmt.Sprintf("%d schedules were cut after %d steps", cut, t.maxSteps)
	}
	if t.judge != nil {
		res.Stats.Histories = t.judge.Distinct()
	}
	if res.Verdict = conclude(first != nil, res.Complete); res.Verdict == Holds && !t.judgeable {
		return res, nil, nothingToJudge(t.sc, t.property)
	}
	return res, first, nil
}

// conclude is the only place where a verdict is made: Broken needs a counterexample,
// Holds needs the whole space.
func conclude(broken, complete bool) Verdict {
	switch {
	case broken:
		return Broken
	case complete:
		return Holds
	}
	return Unknown
}
