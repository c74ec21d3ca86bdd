package checker

import (
	"cmp"
	"context"
	"errors"

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
	var log []Attempt
	o.log = &log
	res, err := check(ctx, sc, p, o)
	res.Attempts = log
	if err == nil && res.Verdict == Holds && sc.AnySleep != nil && ctx.Err() == nil {
		if res, err = res.anySleep(ctx, o); err != nil {
			return res, err
		}
	}
	if err == nil && sc.More {
		if three, ok := res.WithThree(ctx); ok {
			return three, nil
		}
	}
	return res, err
}

// fewStates bounds how far three processes are tried, in states: less than a second.
const fewStates = 20_000

// WithThree decides what holds with two processes with three, as far as that is cheap; false where it is not, or where
// it says nothing.
func (r *Result) WithThree(ctx context.Context) (Result, bool) {
	if r.Verdict != Holds || !r.Scenario.Setting.Alike() || r.Scenario.Setting.Processes != 2 {
		return Result{}, false
	}
	sc, err := r.Scenario.WithProcesses(3)
	if err != nil {
		return Result{}, false
	}
	three, err := Check(ctx, &sc, r.Property, Options{SkipOdds: true, States: fewStates})
	return three, err == nil && three.Verdict != Unknown
}

// check decides one property of a scenario. Where programs could tell that children begin or end, and that went before
// other calls, it is decided again in every order with them ([scenarios.Scenario.EveryBirth]).
func check(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (res Result, err error) {
	everyBirth := func() (*scenarios.Scenario, *scenarios.Property, error) {
		if sc.EveryBirth == nil || ctx.Err() != nil {
			return nil, nil, nil
		}
		every, err := sc.EveryBirth()
		if every == nil || err != nil {
			return nil, nil, err
		}
		in, err := every.In(sc.Setting) // on its file system
		return &in, in.Asked(p), err
	}
	in, asked, err := everyBirth() // another property may have shown it
	if asked == nil && err == nil {
		if res, err = checkMoving(ctx, sc, p, o); err != nil || res.Verdict != Unknown {
			return res, err
		}
		in, asked, err = everyBirth()
	}
	if asked == nil || err != nil {
		return res, err
	}
	o.Tried = &Tried{InTime: o.Tried.InTime}
	return checkMoving(ctx, in, asked, o)
}

// checkMoving decides one property of a scenario on the machine that its setting describes, with sleeps that last where
// that shows, and in each case that is open.
func checkMoving(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (Result, error) {
	if r, err := sleepersFirst(ctx, sc, p, o); r != nil || err != nil {
		return *cmp.Or(r, &Result{}), err
	}
	withSleeps := func(sc *scenarios.Scenario, ask bool) (Result, error) {
		res, err := checkCase(ctx, sc, p, o, ask)
		if err != nil {
			return Result{}, err
		}
		return res.withSleeps(o, func(sc *scenarios.Scenario, o Options) (Result, error) { return checkCase(ctx, sc, p, o, false) })
	}
	decide := func(sc *scenarios.Scenario, ask bool) (Result, error) { return comparedFirst(sc, ask, withSleeps) }
	res, err := decide(sc, true)
	if err != nil {
		return Result{}, err
	}
	switch moves, err := res.inTime(ctx, o); {
	case err != nil:
		return Result{}, err
	case moves != nil:
		return *moves, nil
	}
	res.checked, o.large = true, res.undecided
	all, err := res.byCases(sc, func(sc *scenarios.Scenario) (Result, error) {
		if ctx.Err() != nil {
			r := NewResult(sc, p, nil)
			r.Why = "it was stopped"
			return r, nil
		}
		return decide(sc, false)
	})
	if len(all.Cases) > 0 { // it was covered in one of them
		all.Within = nil
	}
	if err != nil {
		return all, err
	}
	return all.apart(ctx, o)
}

// checkCase decides one property of a scenario on the machine that its setting describes. With
// ask it may leave a large space alone in which nothing is broken so far, once it knows that there
// are cases to decide instead: see Result.undecided.
func checkCase(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options, ask bool) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Result{}, err
	}
	t.Tried = o.Tried
	var res Result
	if o.oracle != nil {
		res, err = o.oracle(ctx, t)
	} else {
		res, err = checkByGraph(ctx, t, o, ask)
	}
	if errors.Is(err, errGoodEnd) {
		return checkCase(ctx, sc, p, o, ask)
	}
	if err != nil {
		return Result{}, err
	}
	if o.Whole && !res.undecided && (!res.Complete && res.Verdict != Broken || res.Why != "") {
		return Result{}, ErrPart
	}
	if res.Counterexample == nil {
		return res, nil
	}
	if again, err := res.reconsidered(false); err != nil || again {
		if err == nil {
			res, err = checkCase(ctx, sc, p, o, ask)
		}
		return res, err
	}
	res.looks, err = looksOf(sc, p, res.Counterexample.Schedule)
	return res, err
}

// reconsidered reports whether the end of a counterexample turns out to be a good one; see
// [scenarios.Property.Reconsider].
func (r *Result) reconsidered(quickly bool) (again bool, err error) {
	for _, cx := range append(r.Also, r.Counterexample) {
		if cx == nil || r.Property.Reconsider == nil || len(cx.Trace) == 0 {
			continue
		}
		good, err := r.Property.Reconsider(scenarios.NewView(cx.Trace[len(cx.Trace)-1].After), quickly)
		if err != nil {
			return false, err
		}
		again = again || good
	}
	return again, nil
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

// confirming is why there is no verdict although everything was covered.
const confirming = "it was stopped while everything was looked at once more"

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
