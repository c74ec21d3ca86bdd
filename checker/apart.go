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
	r.ordered = true
	if sc == nil || err != nil {
		return r, err
	}
	i := slices.IndexFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Property.ID == r.Property.ID })
	if i < 0 {
		return r, nil
	}
	res, err := check(ctx, sc, sc.Claims[i].Property, o.lastingStates(r.Stats.States))
	switch {
	case err != nil:
		return Result{}, err
	case res.Verdict == Broken:
		if res.Cases == nil {
			res.Cases = []Case{
				{Assume: scenarios.Assumptions{Times: scenarios.TimesShared}, Verdict: Holds},
				{Assume: sc.Setting.Assume, Verdict: Broken},
			}
		}
		return res, nil
	case res.Verdict == Unknown:
		r.Verdict, r.Complete = Unknown, false
		r.Why = fmt.Sprintf("%s. Nothing breaks it where changes share a time; where they do not: %s", who, res.Why)
	}
	return r, nil
}
