package checker

import (
	"context"
	"fmt"
	"slices"

	"lockpick/scenarios"
)

// apart decides programs again where no two changes share a time, if they hold where changes do, and one of
// them acts on the order of file times (scenarios.Scenario.Apart).
func (r Result) apart(ctx context.Context, o Options) (Result, error) {
	if r.Verdict != Holds || !r.looks.Times() || r.Scenario.Apart == nil || ctx.Err() != nil {
		return r, nil
	}
	sc, who, err := r.Scenario.Apart()
	if sc == nil && err == nil {
		r.ordered = who == ""
		return r, nil
	}
	var res Result
	if err == nil {
		res, err = r.decideApart(ctx, sc, o)
	}
	switch {
	case ctx.Err() != nil: // it holds where changes share a time, which the conditions say
		return r, nil
	case err != nil:
		r.Verdict, r.Complete = Unknown, false
		r.Why = fmt.Sprintf("nothing breaks it where changes share a time; where they do not, it is not known: %v", err)
		return r, nil
	}
	r.ordered = true
	switch res.Verdict {
	case Broken:
		if res.Cases == nil {
			res.Cases = []Case{
				{Assume: scenarios.Assumptions{Times: scenarios.TimesShared}, Verdict: Holds},
				{Assume: sc.Setting.Assume, Verdict: Broken},
			}
		}
		return res, nil
	case Unknown:
		r.Verdict, r.Complete = Unknown, false
		r.Why = fmt.Sprintf("%s. Nothing breaks it where changes share a time; where they do not: %s", who, res.Why)
	}
	return r, nil
}

func (r Result) decideApart(ctx context.Context, sc *scenarios.Scenario, o Options) (Result, error) {
	i := slices.IndexFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Property.ID == r.Property.ID })
	if i < 0 {
		return Result{}, fmt.Errorf("%s is not asked there", r.Property.ID)
	}
	return check(ctx, sc, sc.Claims[i].Property, o.lastingStates(r.Stats.States))
}
