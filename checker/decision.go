package checker

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

func checkByGraph(ctx context.Context, t *search.Tester, o Options, ask bool) (Result, error) {
	if o.Preemptions != nil {
		return checkBounded(ctx, t, o)
	}
	x, err := search.NewExplorer(t.Sc, t.Property)
	if err != nil {
		return Result{}, err
	}
	x.Tried = o.Tried
	if t.Sc.External { // whose programs are expensive to run again
		t.ExploreWith(x)
	}
	g := &decision{t: t, x: x, o: o, ask: ask && !t.Sc.External}
	defer func() { g.x.Close() }()
	if err := g.exploreAlike(ctx); err != nil {
		return Result{}, err
	}
	if o.Whole && !g.c.Complete && !g.c.Enough && !g.cases { // where there are cases, each is to be decided
		return Result{}, ErrPart
	}
	return g.conclude(ctx)
}

// A decision is one verdict of the graph engine on its way.
type decision struct {
	t *search.Tester
	x *search.Explorer
	o Options
	c *search.Coverage
	// merging says how the merging of automata was verified.
	merging Merging
	// found is the smallest counterexample, if it was searched for already.
	found *found
	// pids: processes that are taken for each other use their pids.
	pids bool
	// ask: it is enough to know which cases there are. cases: there are several, and the space was
	// left alone.
	ask, cases bool
}

// exploreAlike covers the space, up to symmetry where that is asked for. Where a pid comes up, it begins anew.
func (g *decision) exploreAlike(ctx context.Context) error {
	if !g.o.Symmetry {
		return g.explore(ctx)
	}
	err := g.symmetric(g.x)
	if err == nil {
		err = g.explore(ctx)
	}
	if g.pids || !errors.Is(err, engine.ErrPids) {
		return err
	}
	g.pids = true
	x, err := search.NewExplorer(g.t.Sc, g.t.Property)
	if err != nil {
		return err
	}
	x.Tried = g.o.Tried
	g.x.Close()
	g.x, g.c, g.found = x, nil, nil
	return g.exploreAlike(ctx)
}

// symmetric has a space explored up to symmetry.
func (g *decision) symmetric(x *search.Explorer) error {
	if g.pids {
		return x.SymmetricWithPids()
	}
	return x.Symmetric()
}

// explore covers the space, as far as the verdict needs it and the budgets allow.
func (g *decision) explore(ctx context.Context) (err error) {
	limits := g.o.limits(g.t.Sc, g.t.Property)
	if !g.o.Full && !g.t.Property.OfCycles() {
		limits.Enough = smallSpace
	}
	if g.t.Sc.External {
		return g.exploreExternal(ctx, limits)
	}
	return g.cover(ctx, limits)
}

// cover covers the space within limits.
func (g *decision) cover(ctx context.Context, limits search.Limits) (err error) {
	if g.o.Disk.Dir != "" {
		g.x.RememberMonitors()
		g.c, err = g.x.ExploreOnDisk(ctx, limits, g.o.Disk.of(g.t.Sc, g.t.Property))
		return err
	}
	switch g.o.Memory {
	case RememberMonitors:
		g.x.RememberMonitors()
	case RememberLeast:
		if err := g.merge(ctx, limits); err != nil || g.merging != Unmerged {
			return err
		}
		g.x.RememberMonitors()
	}
	auto := g.o.Memory == RememberAuto
	monitors, least := cmp.Or(g.o.changes.monitors, autoStates), cmp.Or(g.o.changes.least, mergeStates)
	if auto && g.o.large && exceeds(limits, monitors) {
		if done, err := g.upToSymmetry(ctx, limits, 0); done || err != nil {
			return err
		}
	}
	if auto && g.t.Judge != nil && exceeds(limits, monitors) {
		if done, err := g.begin(ctx, limits, monitors); done || err != nil {
			return err
		}
		if err := g.x.Histories.FinalCheck(ctx, 1); err != nil && ctx.Err() == nil {
			return err
		}
		if g.cases = g.ask && g.found == nil && severalCases(g.t.Sc, g.x.Observed()); g.cases {
			return nil
		}
		g.x.RememberMonitors()
	}
	if auto && g.found == nil && !g.o.large && exceeds(limits, monitors) {
		if done, err := g.upToSymmetry(ctx, limits, monitors); done || err != nil {
			return err
		}
	}
	if auto && g.found == nil && g.x.MayMerge() && exceeds(limits, least) {
		if done, err := g.begin(ctx, limits, least); done || err != nil {
			return err
		}
		if g.found == nil {
			if err := g.merge(ctx, limits); err != nil || g.merging != Unmerged {
				return err
			}
			if ctx.Err() != nil {
				g.c.Why = fmt.Sprintf("it was stopped: %d states and %d transitions covered, and what programs are told was being merged", g.c.States.Len(), g.c.Transitions)
			}
		}
		if ctx.Err() != nil || g.c.States.Len() <= least { // it was another budget that ended
			return nil
		}
	}
	g.c, err = g.x.Explore(ctx, limits, g.x.Initial)
	return err
}

// exceeds reports whether limits allow for more than so many states.
func exceeds(limits search.Limits, states int) bool {
	return limits.States == 0 || limits.States > states
}

// begin covers the space as far as to so many states. It is done when that is all, or enough.
func (g *decision) begin(ctx context.Context, limits search.Limits, states int) (done bool, err error) {
	limits.States = states
	g.c, err = g.x.Explore(ctx, limits, g.x.Initial)
	if err != nil || g.c.Complete || g.c.Enough || g.c.Outrun || ctx.Err() != nil {
		return true, err
	}
	if g.c.Violations > 0 { // what was seen is never unknown, whatever comes next
		g.found, err = g.find(ctx)
	}
	return false, err
}

// upToSymmetry covers a space of more than so many states up to symmetry, where the scenario says that its
// processes are interchangeable, and they are. It is done when nothing is left to do. With 0 the space is known not to be small.
func (g *decision) upToSymmetry(ctx context.Context, limits search.Limits, small int) (done bool, err error) {
	if g.o.Symmetry || !g.t.Sc.Setting.Interchangeable {
		return false, nil
	}
	if g.t.Judge == nil && small > 0 { // otherwise it was begun with histories
		if done, err := g.begin(ctx, limits, small); done || err != nil || g.found != nil {
			return done, err
		}
	}
	if limits.Enough > 0 { // so many were seen
		limits.Enough = max(1, limits.Enough-small)
	}
	for g.pids = false; ; g.pids = true {
		y, err := search.NewExplorer(g.t.Sc, g.t.Property)
		if err != nil {
			return false, err
		}
		y.Tried = g.x.Tried
		y.RememberMonitors()
		var c *search.Coverage
		if err = g.symmetric(y); err == nil {
			c, err = y.Explore(ctx, limits, y.Initial)
		}
		if err == nil {
			g.x.Close()
			g.x, g.c = y, c
			return true, nil
		}
		y.Close()
		if g.pids || !errors.Is(err, engine.ErrPids) {
			return false, nil // they are not: the whole space says what is wrong, if anything is
		}
	}
}

// merge covers the space with merged automata, where that comes to an end. It begins anew: what
// was learned does not depend on what was done before.
func (g *decision) merge(ctx context.Context, limits search.Limits) error {
	y, err := search.NewExplorer(g.t.Sc, g.t.Property)
	if err != nil {
		return err
	}
	y.Tried = g.x.Tried
	y.RememberMonitors()
	if g.o.Symmetry {
		if err := g.symmetric(y); err != nil {
			return err
		}
	}
	c, how := y.ExploreMerged(ctx, limits)
	if how == Unmerged {
		y.Close()
		return nil
	}
	g.x.Close()
	g.x, g.c, g.merging = y, c, how
	return nil
}

// oneOrder is why a space that was covered is no proof all the same.
const oneOrder = "nothing broke it, but several threads or processes of one program asked at once, and only one order of their calls was followed"

// oneOrderStuck is why somebody who never gets on is no violation there: what was left waiting
// beside a call that blocks, a timeout for one, might have ended it.
const oneOrderStuck = "somebody may wait for ever, but several threads or processes of one program asked at once, or one had a timeout, and only one order of that was followed"

// timedStuck is why somebody who never gets on is no violation where waits have timeouts: that a timeout ends
// one at once is followed, and that it does so later is not.
const timedStuck = "somebody may wait for ever, as far as no timeout ends a wait that has begun, and some waits have one"

// doubt says why programs whose whole space was covered do not hold all the same; "" for no reason.
func doubt(sc *scenarios.Scenario) (string, error) {
	if sc.Unjudged != nil {
		if why := sc.Unjudged(); why != "" {
			return why, nil
		}
	}
	if sc.Late != nil {
		return sc.Late()
	}
	return "", nil
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
	broken := c.Violations > 0 || g.found != nil
	var err error
	switch {
	case x.OneOrder() && g.t.Property.Question != scenarios.NoQuestion:
		switch {
		case broken:
			res.Why = oneOrderStuck
		case res.Complete:
			res.Why = oneOrder
		}
		broken, res.Complete = false, false
	case x.TimedWait() && broken && g.t.Property.Question != scenarios.NoQuestion:
		broken, res.Complete, res.Why = false, false, timedStuck
	case g.t.Property.OfCycles():
		broken, err = checkStarvation(ctx, g.t, x, g.o, c, &res)
	case broken:
		err = g.explain(ctx, &res)
	default:
		broken, err = g.trap(ctx, &res)
	}
	if err != nil {
		return res, err
	}
	if !broken && res.Complete && x.OneOrder() {
		res.Complete, res.Why = false, oneOrder
	}
	if !c.Enough {
		res.Facts = x.Facts()
	}
	if !broken && res.Complete {
		why, err := doubt(g.t.Sc)
		if err == nil && why == "" {
			why, err = x.Outlast(ctx, x.Tried)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			why = "it was stopped while it was tried out whether loops are endless"
		case err != nil:
			return res, err
		}
		if why != "" {
			res.Complete, res.Why = false, why
		}
	}
	if res.Verdict = conclude(broken, res.Complete); res.Verdict == Holds {
		if err := engine.Lacking(g.t.Sc, g.t.Property, res.Facts); err != nil {
			return res, err
		}
	}
	res.looks, res.undecided = x.Observed(), g.cases
	if g.t.Sc.External {
		res.Stats.learned(x)
		if !c.OnDisk() { // a number to print: that it could not be counted changes no verdict
			res.Stats.Covered, _ = x.Schedules(ctx, c, g.o.limits(g.t.Sc, g.t.Property))
		}
	}
	if c.Enough && res.Counterexample != nil && res.Counterexample.Smallest { // which depends on nothing but the scenario
		res.Stats.States, res.Stats.Transitions, res.Stats.Contended = g.found.Stored, g.found.Transitions, g.found.Contended
		return res, nil
	}
	res.Stats.learned(x)
	res.Resumable = c.OnDisk() && c.Why != ""
	res.DiskHelps = c.Outgrown && diskHelps*res.Stats.Machines < c.Count() && !g.t.Property.OfCycles()
	res.Stats.Merging, res.Stats.Symmetry = g.merging, x.Reduce
	res.Stats.States, res.Stats.Transitions = c.Count(), c.Transitions
	res.Stats.Contended, res.Stats.Depth = c.Contended, c.Depth
	res.Stats.Violations = len(x.Fingerprints(c.Violated))
	res.Stats.Bytes = x.Bytes(c.States)
	return res, nil
}
