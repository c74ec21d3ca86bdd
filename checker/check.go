package checker

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// Check decides one property of a scenario. When ctx ends first, the verdict is
// Unknown with what was covered. The error is a fault of the scenario or the options,
// and then there is no verdict.
func Check(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Result{}, err
	}
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
	return res, nil
}

func checkByReference(ctx context.Context, t *search.Tester, o Options) (Result, error) {
	budget := o.Schedules
	if budget == 0 {
		budget = defaultSchedules
	}
	runs, first, err := t.SearchAll(ctx, budget, false)
	res := NewResult(t.Sc, t.Property, nil)
	res.Complete, res.Why = runs.Complete, runs.Why
	res.Stats.Schedules, res.Stats.Contended, res.Stats.Histories = runs.Schedules, runs.Contended, t.Histories()
	if err != nil {
		return res, err
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
	memory := o.Memory
	if memory == RememberAuto && (t.Judge == nil || o.Symmetry) {
		memory = RememberHistories
	}
	if memory != RememberAuto {
		return exploreAndExplain(ctx, t, o, memory)
	}
	first := o
	if first.States == 0 || first.States > autoStates {
		first.States = autoStates
	}
	res, err := exploreAndExplain(ctx, t, first, RememberHistories)
	if err != nil || res.Complete || ctx.Err() != nil || first.States == o.States {
		return res, err
	}
	return exploreAndExplain(ctx, t, o, RememberMonitors)
}

// oneOrder is why a space that was covered is no proof all the same.
const oneOrder = "nothing broke it, but several threads or processes of one program asked at once, and only one order of their calls was followed"

// exploreAndExplain is one exploration with everything that follows from it.
func exploreAndExplain(ctx context.Context, t *search.Tester, o Options, memory Memory) (Result, error) {
	res := NewResult(t.Sc, t.Property, nil)
	x, err := search.NewExplorer(t.Sc, t.Property)
	if err != nil {
		return res, err
	}
	defer x.Close()
	if memory == RememberMonitors && x.Histories != nil {
		x.Histories.RememberMonitors()
	}
	if o.Symmetry {
		if err := x.Symmetric(); err != nil {
			return res, err
		}
	}
	c, err := x.Explore(ctx, o.limits(t.Sc, t.Property), x.Initial)
	if err != nil {
		return res, err
	}
	res.Complete, res.Why = c.Complete, c.Why
	broken := c.Violations > 0
	switch {
	case t.Property.OfCycles():
		broken, err = checkStarvation(ctx, t, x, o, c, &res)
	case broken:
		err = explainBroken(ctx, t, x, o, c, &res)
	}
	if err != nil {
		return res, err
	}
	if !broken && res.Complete && x.OneOrder() {
		res.Complete, res.Why = false, oneOrder
	}
	res.Facts = x.Facts()
	if res.Verdict = conclude(broken, res.Complete); res.Verdict == Holds {
		if err := engine.Lacking(t.Sc, t.Property, res.Facts); err != nil {
			return res, err
		}
	}
	res.Stats.learned(x)
	res.Stats.States, res.Stats.Transitions = c.States.Len(), c.Transitions
	res.Stats.Contended, res.Stats.Depth = c.Contended, c.Depth
	res.Stats.Violations = len(x.Fingerprints(c.Violated))
	res.Stats.Bytes = x.Bytes(c.States)
	return res, nil
}

// explainBroken adds the smallest counterexample and the odds to a broken result. When a budget
// ends before the smallest is found, the way is shown on which the violation was seen: what was
// seen is never unknown.
func explainBroken(ctx context.Context, t *search.Tester, x *search.Explorer, o Options, c *search.Coverage, res *Result) error {
	limits := o.limits(t.Sc, t.Property)
	schedule, err := x.FindSmallest(ctx, &search.Target{Limits: search.Limits{Bytes: limits.Bytes}, Beside: c.States.Bytes()})
	var ended *search.EndedError
	smallest := !errors.As(err, &ended)
	if !smallest {
		res.notSmallest(ended)
		if schedule, err = x.Path(c); err == nil {
			schedule, err = t.ShrinkABit(schedule)
		}
	}
	if err != nil {
		return err
	}
	if res.Counterexample, err = t.Counterexample(schedule); err != nil {
		return err
	}
	res.Counterexample.Smallest = smallest
	if o.SkipOdds || !c.Complete {
		return nil
	}
	odds, err := x.Odds(ctx, c, limits)
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

// checkBounded covers only the schedules with few preemptions.
func checkBounded(ctx context.Context, t *search.Tester, o Options) (Result, error) {
	res := NewResult(t.Sc, t.Property, nil)
	x, err := search.NewExplorer(t.Sc, t.Property)
	if err != nil {
		return Result{}, err
	}
	defer x.Close()
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
	res.Complete = schedule == nil && !tg.Pruned
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
