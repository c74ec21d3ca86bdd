package checker

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/search"
)

// An oracle decides in place of the graph; nil is the graph.
type oracle = func(context.Context, *search.Tester) (Result, error)

// reference runs every schedule from its start, one after the other: up to 200 000.
func reference(ctx context.Context, t *search.Tester) (Result, error) {
	return referenceOf(200_000)(ctx, t)
}

// referenceOf is reference of up to so many schedules.
func referenceOf(budget int) oracle {
	return func(ctx context.Context, t *search.Tester) (Result, error) { return checkByReference(ctx, t, budget) }
}

func checkByReference(ctx context.Context, t *search.Tester, budget int) (Result, error) {
	if t.Property.OfCycles() {
		return Result{}, fmt.Errorf("starvation is a question about cycles, which no single schedule shows")
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
		res.Why = "no schedule that ends breaks it; in some, somebody goes on for ever or waits, and whether a fresh " +
			"process can still get in then is for the graph engine to say"
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
