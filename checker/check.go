package checker

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Check decides one property of a scenario. When ctx ends first, the verdict is
// Unknown with what was covered. The error is a fault of the scenario or the options,
// and then there is no verdict. Where tasks look at inode numbers or file times, it decides
// each case that the setting's assumptions leave open; see [Case].
func Check(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (Result, error) {
	if o.Tried == nil {
		o.Tried = &Tried{}
	}
	if err := o.Tried.For(sc); err != nil {
		return Result{}, err
	}
	res, err := checkCase(ctx, sc, p, o)
	if err != nil {
		return Result{}, err
	}
	res.checked = true
	return res.byCases(func(sc *scenarios.Scenario) (Result, error) {
		if ctx.Err() != nil {
			r := NewResult(sc, p, nil)
			r.Why = "it was stopped"
			return r, nil
		}
		return checkCase(ctx, sc, p, o)
	})
}

// checkCase decides one property of a scenario on the machine that its setting describes.
func checkCase(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Result{}, err
	}
	t.Tried = o.Tried
	var res Result
	if o.Engine == Reference && p.OfCycles() {
		return Result{}, fmt.Errorf("checker: starvation is a question about cycles, which no single schedule shows: choose the graph engine")
	}
	if o.Engine == Reference {
		res, err = checkByReference(ctx, t, o)
	} else {
		res, err = checkByGraph(ctx, t, o)
	}
	if err != nil {
		return Result{}, err
	}
	if res.Counterexample != nil {
		res.looks, err = looksOf(sc, p, res.Counterexample.Schedule)
	}
	return res, err
}

// looksOf is what is looked at on one schedule: what breaks a property there breaks it in
// every case if nothing is.
func looksOf(sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule) (engine.Observed, error) {
	t, err := search.NewTester(sc, p)
	if err != nil {
		return engine.Observed{}, err
	}
	t.NoTraps = true
	if _, err = t.Trace(s); err != nil {
		return engine.Observed{}, err
	}
	return t.Observed(), nil
}

func checkByReference(ctx context.Context, t *search.Tester, o Options) (Result, error) {
	budget := o.Schedules
	if budget == 0 {
		budget = defaultSchedules
	}
	runs, first, err := t.SearchAll(ctx, budget, false)
	res := NewResult(t.Sc, t.Property, nil)
	res.Complete, res.Why = runs.Complete, runs.Why
	res.looks = t.Observed()
	res.Stats.Schedules, res.Stats.Contended, res.Stats.Histories = runs.Schedules, runs.Contended, t.Histories()
	if err != nil {
		return res, err
	}
	if first == nil && res.Complete && t.Property.NeedsProbe() && (t.Nowhere || t.TooLarge) {
		res.Complete = false
		res.Why = "no schedule that ends breaks it; in some, somebody goes on for ever or waits, and whether a fresh process can still get in then is for the graph engine to say"
	}
	if first == nil && res.Complete {
		switch err := t.Confirm(ctx); {
		case err != nil && errors.Is(err, ctx.Err()):
			res.Complete, res.Why = false, confirming
		case err != nil:
			return res, err
		}
	}
	if res.Verdict = conclude(first != nil, res.Complete); res.Verdict == Holds {
		if err := t.Lacking(); err != nil {
			return res, err
		}
	}
	if first == nil {
		return res, nil
	}
	best, err := t.Shrink(*first)
	if err != nil {
		return res, err
	}
	res.Counterexample, err = t.Counterexample(best.Schedule)
	return res, err
}

func checkByGraph(ctx context.Context, t *search.Tester, o Options) (Result, error) {
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
	g := &decision{t: t, x: x, o: o}
	defer func() { g.x.Close() }()
	if o.Symmetry {
		if err := x.Symmetric(); err != nil {
			return Result{}, err
		}
	}
	if err := g.explore(ctx); err != nil {
		return Result{}, err
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
}

// explore covers the space, as far as the verdict needs it and the budgets allow.
func (g *decision) explore(ctx context.Context) (err error) {
	limits := g.o.limits(g.t.Sc, g.t.Property)
	if !g.o.Full && !g.t.Property.OfCycles() {
		limits.Enough = smallSpace
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
	auto := g.o.Memory == RememberAuto && !g.o.Symmetry
	if auto && g.t.Judge != nil && exceeds(limits, autoStates) {
		if done, err := g.begin(ctx, limits, autoStates); done || err != nil {
			return err
		}
		g.x.RememberMonitors()
	}
	if auto && g.found == nil && g.x.MayMerge() && exceeds(limits, mergeStates) {
		if done, err := g.begin(ctx, limits, mergeStates); done || err != nil {
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
		if ctx.Err() != nil || g.c.States.Len() <= mergeStates { // it was another budget that ended
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
	if err != nil || g.c.Complete || g.c.Enough || ctx.Err() != nil {
		return true, err
	}
	if g.c.Violations > 0 { // what was seen is never unknown, whatever comes next
		g.found, err = g.find(ctx)
	}
	return false, err
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
	if res.Verdict = conclude(broken, res.Complete); res.Verdict == Holds {
		if err := engine.Lacking(g.t.Sc, g.t.Property, res.Facts); err != nil {
			return res, err
		}
	}
	res.looks = x.Observed()
	if g.t.Sc.External {
		res.Stats.learned(x)
		if c.Complete { // a number to print: that it could not be counted changes no verdict
			res.Stats.Covered, _ = x.Schedules(ctx, c, g.o.limits(g.t.Sc, g.t.Property))
		}
	}
	if c.Enough && res.Counterexample != nil && res.Counterexample.Smallest { // which depends on nothing but the scenario
		res.Stats.States, res.Stats.Transitions, res.Stats.Contended = g.found.Stored, g.found.Transitions, g.found.Contended
		return res, nil
	}
	res.Stats.learned(x)
	res.Stats.Merging = g.merging
	res.Stats.States, res.Stats.Transitions = c.States.Len(), c.Transitions
	res.Stats.Contended, res.Stats.Depth = c.Contended, c.Depth
	res.Stats.Violations = len(x.Fingerprints(c.Violated))
	res.Stats.Bytes = x.Bytes(c.States)
	return res, nil
}

// frozen is why polling for ever proves nothing where it may be for a time only.
const frozen = "processes poll for ever, but they read the clock, which stands still"

// trap looks for a part of the graph that nobody gets out of, and adds the smallest way into
// one.
func (g *decision) trap(ctx context.Context, res *Result) (bool, error) {
	if !g.c.Complete {
		return false, nil
	}
	found, err := g.x.FindTrap(ctx, g.c, g.o.limits(g.t.Sc, g.t.Property))
	var ended *search.EndedError
	switch {
	case errors.As(err, &ended):
		res.Complete, res.Why = false, ended.Why
		return false, nil
	case err != nil || found == nil:
		return false, err
	case g.t.Sc.External && (g.x.Observed().Clock || g.x.Observed().Frozen):
		res.Complete, res.Why = false, frozen
		return false, nil
	}
	if res.Counterexample, err = g.t.Counterexample(found.Schedule); err != nil {
		return true, err
	}
	if res.Counterexample.Smallest = found.Smallest; !found.Smallest {
		res.notSmallest(&search.EndedError{Why: found.Why})
	}
	return true, g.odds(ctx, res)
}

// A found is a counterexample that was searched for in the order of cost.
type found struct {
	schedule sched.Schedule
	// ended says which budget ended before the smallest was found; nil for none.
	ended *search.EndedError
	search.Target
}

// find returns the smallest counterexample. When a budget ends before it is found, it is the
// way on which the violation was seen, made smaller.
func (g *decision) find(ctx context.Context) (*found, error) {
	tg := &search.Target{Limits: search.Limits{Bytes: g.o.Bytes}, Beside: g.c.States.Bytes(), Monitors: true}
	schedule, err := g.x.FindSmallest(ctx, tg)
	f := &found{Target: *tg}
	if errors.As(err, &f.ended) {
		if schedule, err = g.x.Path(g.c); err == nil {
			schedule, err = g.t.ShrinkABit(schedule)
		}
	}
	f.schedule = schedule
	return f, err
}

// explain adds the counterexample and the odds to a broken result.
func (g *decision) explain(ctx context.Context, res *Result) (err error) {
	if g.t.Property.NeedsProbe() {
		if trapped, err := g.trap(ctx, res); trapped || err != nil { // which may be smaller
			return err
		}
	}
	if g.found == nil {
		if g.found, err = g.find(ctx); err != nil {
			return err
		}
	}
	if res.Counterexample, err = g.t.Counterexample(g.found.schedule); err != nil {
		return err
	}
	if res.Counterexample.Smallest = g.found.ended == nil; g.found.ended != nil {
		res.notSmallest(g.found.ended)
	}
	return g.odds(ctx, res)
}

// odds adds the odds to a broken result.
func (g *decision) odds(ctx context.Context, res *Result) error {
	if g.o.SkipOdds {
		return nil
	}
	if g.c.Enough {
		res.OddsWhy = fmt.Sprintf("more than %d states, which only a full check covers", smallSpace)
	}
	if !g.c.Complete {
		return nil
	}
	odds, err := g.x.Odds(ctx, g.c, g.o.limits(g.t.Sc, g.t.Property))
	var ended *search.EndedError
	switch {
	case errors.As(err, &ended):
		res.OddsWhy = ended.Why
	case err != nil:
		return err
	case !odds.Converged():
		res.OddsWhy = "not converged: " + odds.String()
	default:
		res.Odds = odds.Value()
	}
	return nil
}

// notSmallest says why a counterexample may not be the smallest.
func (r *Result) notSmallest(ended *search.EndedError) {
	if r.Why == "" {
		r.Why = ended.Why
	}
	r.Why += "; a smaller counterexample may exist"
}

// confirming is why there is no verdict although everything was covered.
const confirming = "it was stopped while everything was looked at once more"

// checkBounded covers only the schedules with few preemptions.
func checkBounded(ctx context.Context, t *search.Tester, o Options) (Result, error) {
	res := NewResult(t.Sc, t.Property, nil)
	x, err := search.NewExplorer(t.Sc, t.Property)
	if err != nil {
		return Result{}, err
	}
	defer x.Close()
	x.Tried = o.Tried
	if t.Property.OfCycles() {
		return res, fmt.Errorf("checker: starvation is a question about whole cycles: it has no bound on preemptions")
	}
	tg := &search.Target{Preemptions: o.Preemptions, Limits: o.limits(t.Sc, t.Property)}
	schedule, err := x.FindSmallest(ctx, tg)
	res.Stats.learned(x)
	res.Stats.States = tg.Stored
	var ended *search.EndedError
	if errors.As(err, &ended) {
		res.Why = fmt.Sprintf("%s: %d states covered, in the order of cost", ended.Why, tg.Stored)
		return res, nil
	} else if err != nil {
		return res, err
	}
	res.looks = x.Observed()
	if err := x.Judgeable(); err != nil {
		return res, err
	}
	t.Locks.Add(x.Locks())
	if res.Complete = schedule == nil && !tg.Pruned; res.Complete {
		switch err := x.Confirm(ctx); {
		case err != nil && errors.Is(err, ctx.Err()):
			res.Why = confirming
			res.Complete = false
			return res, nil
		case err != nil:
			return res, err
		}
	}
	if res.Complete && x.MayTrap() {
		res.Complete, res.Why = false, "nothing that a schedule ends with breaks it; whether somebody goes on for ever in vain has no bound on preemptions"
		return res, nil
	}
	if res.Verdict = conclude(schedule != nil, res.Complete); res.Verdict == Holds {
		if err := engine.Lacking(t.Sc, t.Property, x.Facts()); err != nil {
			return res, err
		}
	}
	if schedule != nil {
		res.Counterexample, err = t.Counterexample(schedule)
		if err == nil {
			res.Counterexample.Smallest = true
		}
		return res, err
	}
	if !res.Complete {
		res.Why = fmt.Sprintf("no schedule with at most %d preemptions breaks it; schedules with more were left out", *o.Preemptions)
	}
	return res, nil
}

// checkStarvation looks for a fair cycle in which somebody starves, and adds the
// smallest way into one, and once around it.
func checkStarvation(ctx context.Context, t *search.Tester, x *search.Explorer, o Options, c *search.Coverage, res *Result) (bool, error) {
	if !c.Complete {
		return false, nil
	}
	found, err := x.FindStarvation(ctx, c, o.limits(t.Sc, t.Property))
	var ended *search.EndedError
	switch {
	case errors.As(err, &ended):
		res.Complete, res.Why = false, ended.Why
		return false, nil
	case err != nil:
		return true, err
	case found == nil:
		return false, nil
	}
	if res.Counterexample, err = t.Trace(found.Schedule); err != nil {
		return true, err
	}
	if res.Counterexample.Smallest = found.Smallest; !found.Smallest {
		res.notSmallest(&search.EndedError{Why: found.Why})
	}
	t.Starves(res.Counterexample, found.Cycle, found.Waits)
	return true, nil
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
