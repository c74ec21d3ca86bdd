package checker

import (
	"context"
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

func checkByGraph(ctx context.Context, t *search.Tester, o Options, ask bool) (Result, error) {
	if o.Preemptions != nil {
		return checkBounded(ctx, t, o)
	}
	g := &decision{t: t, ask: ask && !t.Sc.AssumesOneCase(), space: &space{}}
	if tell := o.Progress; tell != nil {
		o.Progress = func(p Progress) {
			p.Within = g.within
			tell(p)
		}
	}
	g.o = o
	defer func() { g.keep(nil, nil) }()
	if err := g.run(ctx, o.plan(traitsOf(t), o.limits(t.Sc, t.Property))); err != nil {
		return Result{}, err
	}
	if o.Whole && !g.c.Complete && !g.c.Enough && !g.cases { // where there are cases, each is to be decided
		return Result{}, ErrPart
	}
	return g.conclude(ctx)
}

// oneOrder says why a space that was covered is no proof all the same.
func (g *decision) oneOrder() string {
	if why := g.t.Property.Unjudged; why != "" {
		return why
	}
	why := g.where("nothing broke it, but several threads or processes of one program asked at once, and not all " +
		"orders of their calls were followed")
	for _, p := range g.t.Sc.Assumes {
		if p.Code == scenarios.SeveralEnds {
			why += "; " + p.Text
		}
	}
	return why
}

// where adds to a reason where one order was followed, as far as the scenario knows.
func (g *decision) where(why string) string {
	if of := g.t.Sc.OneOrder; of != nil {
		if at := of(); at != "" {
			return why + ": " + at
		}
	}
	return why
}

// SomeDisks is why a space that was covered is no proof where the power may be lost.
const SomeDisks = "nothing broke it, but a loss of power may leave more disks than were looked at: --assume ext4, " +
	"xfs or btrfs leaves fewer, and so does a command that syncs more"

// oneOrderStuck is why somebody who never gets on is no violation there: what was left waiting
// beside a call that blocks, a timeout for one, might have ended it.
const oneOrderStuck = "somebody may wait for ever, but several threads or processes of one program asked at once, or " +
	"one had a timeout, and not all orders of that were followed"

// doubt says why programs whose whole space was covered do not hold all the same; "" for no reason. late: because of
// the time.
func doubt(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property) (why string, late bool, err error) {
	if p.Unjudged != "" {
		return p.Unjudged, false, nil
	}
	if sc.Unjudged != nil {
		if why := sc.Unjudged(); why != "" {
			return why, false, nil
		}
	}
	if sc.Late != nil {
		why, err = sc.Late(ctx, false)
	}
	return why, why != "", err
}

// conclude makes the verdict, with everything that goes with it.
func (g *decision) conclude(ctx context.Context) (Result, error) {
	res := NewResult(g.t.Sc, g.t.Property, nil)
	c, x := g.c, g.x
	if err := x.Judgeable(); err != nil {
		return res, err
	}
	g.t.Locks.Add(x.Locks())
	if !c.Enough {
		res.Complete, res.Why = c.Complete, c.Why
	}
	broken, err := g.broken(ctx, &res)
	if err != nil {
		return res, err
	}
	if !c.Enough {
		res.Facts = x.Facts()
	}
	if !broken && res.Complete {
		if err := g.outlasts(ctx, &res); err != nil {
			return res, err
		}
	}
	if res.Verdict = conclude(broken, res.Complete); res.Verdict == Holds {
		if err := engine.Lacking(g.t.Sc, g.t.Property, res.Facts); err != nil {
			return res, err
		}
	}
	if res.Verdict == Unknown {
		g.preemptions(&res)
	}
	res.looks, res.undecided = x.Observed(), g.cases
	g.count(ctx, &res)
	return res, nil
}

// broken reports whether the property is broken, and explains how. Where orders or disks were left out of what was
// covered, the result is not complete.
func (g *decision) broken(ctx context.Context, res *Result) (broken bool, err error) {
	c, x := g.c, g.x
	question := g.t.Property.Question != scenarios.NoQuestion
	broken = c.Violations > 0 || len(g.found) > 0
	switch {
	case x.OneOrder() && question:
		if broken {
			res.Why = g.where(oneOrderStuck)
		} else if res.Complete {
			res.Why = g.oneOrder()
		}
		res.Complete = false
		return false, nil
	case g.t.Property.OfCycles():
		broken, err = checkStarvation(ctx, g.t, x, g.o, c, res)
	case broken:
		err = g.explain(ctx, res)
	default:
		broken, err = g.trap(ctx, res)
	}
	switch {
	case err != nil || broken || !res.Complete:
	case x.OneOrder():
		res.Complete, res.Why = false, g.oneOrder()
	case x.SomeDisks():
		res.Complete, res.Why = false, SomeDisks
	}
	return broken, err
}

// outlasts looks whether what holds does so as well where time matters and loops go on; where it may not, the result
// is not complete.
func (g *decision) outlasts(ctx context.Context, res *Result) error {
	why, late, err := doubt(ctx, g.t.Sc, g.t.Property)
	res.late = late
	if err == nil && why == "" {
		why, err = g.x.Outlast(ctx, g.x.Tried)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		why = "it was stopped while it was tried out whether time matters and loops are endless"
	case err != nil:
		return err
	}
	if why != "" {
		res.Complete, res.Why = false, why
	}
	return nil
}

// preemptions says within how few preemptions nothing broke what is unknown.
func (g *decision) preemptions(res *Result) {
	if !res.Complete && g.within != nil {
		res.Within = g.within
	}
	if p := g.preempted; g.within == nil && p != nil && p.Bound > 0 && len(p.Broken) == 0 {
		res.Why += fmt.Sprintf("; schedules were made in the order of preemptions, up to %d, and none broke it, "+
			"which was not looked at again", p.Bound)
	}
}

// count says how much was looked at.
func (g *decision) count(ctx context.Context, res *Result) {
	c, x := g.c, g.x
	if g.t.Sc.Expensive() {
		res.Stats.learned(x)
		if !c.Reduced() { // it takes all steps of all states
			// a number to print: that it could not be counted changes no verdict
			res.Stats.Covered, _ = x.Schedules(ctx, c, g.o.limits(g.t.Sc, g.t.Property))
		}
	}
	if c.Enough && res.Counterexample != nil && res.Counterexample.Smallest { // which depends on nothing but the scenario
		f := g.found[0]
		res.Stats.States, res.Stats.Transitions, res.Stats.Contended = f.Stored, f.Transitions, f.Contended
		return
	}
	res.Stats.learned(x)
	res.Stats.Symmetry, res.Stats.Reduced = x.Reduce, c.Reduced()
	res.Stats.States, res.Stats.Transitions = c.Count(), c.Transitions
	res.Stats.Contended, res.Stats.Depth = c.Contended, c.Depth
	res.Stats.Bytes = x.Bytes(c.States)
}
