package checker

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
)

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
	if o.log != nil {
		*o.log = append(*o.log, Attempt{Where: assumed(t.Sc), Name: fmt.Sprintf("in the order of cost, with at most %d "+
			"preemptions", *o.Preemptions)})
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
			res.outlived(x)
			res.trapped(x, false)
		}
		return res, err
	}
	if !res.Complete {
		res.Why = fmt.Sprintf("no schedule with at most %d preemptions breaks it; schedules with more were left out", *o.Preemptions)
	}
	return res, nil
}
