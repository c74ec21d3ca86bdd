package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

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
		g.trapsKnown = err == nil
		return false, err
	case g.t.Sc.AssumesOneCase() && (g.x.Observed().Clock || g.x.Observed().Has(scenarios.ClockSeen)):
		res.Complete, res.Why = false, frozen
		return false, nil
	}
	if res.Counterexample, err = g.t.Counterexample(found.Schedule); err != nil {
		return true, err
	}
	if res.Counterexample.Smallest = found.Smallest; !found.Smallest {
		res.notSmallest(&search.EndedError{Why: found.Why})
	}
	res.outlived(g.x)
	res.joined(g.x)
	return true, g.odds(ctx, res)
}

// A found is a counterexample that was searched for in the order of cost, the smallest of its kind.
type found struct {
	schedule sched.Schedule
	// ended says which budget ended before the smallest was found; nil for none.
	ended *search.EndedError
	search.Target
}

// find returns the smallest counterexample of each kind that was seen, the one to be shown first. When a budget ends
// before it is found, it is the way on which the violation was seen, made smaller.
func (g *decision) find(ctx context.Context) (all []*found, err error) {
	kinds := g.c.Kinds()
	slices.SortFunc(kinds, g.compare)
	for i, kind := range kinds {
		if schedule, err := g.x.Path(g.c, kind); err == nil && i == 0 {
			if err := g.meet(schedule); err != nil {
				return nil, err
			}
		}
		tg := &search.Target{
			Kind: kind, Limits: search.Limits{Bytes: g.o.Bytes}, Beside: g.c.States.Bytes(), Monitors: true,
		}
		if !g.c.Complete && g.o.States > 0 {
			// There may be no end to what is cheaper. The search looks at a state together with who ran last.
			tg.Limits.States = g.o.States * (g.t.Sc.Setting.Contenders() + 1)
		}
		if g.c.Reduced() && tg.Limits.States == 0 {
			tg.Limits.States = 2*g.c.Count() + smallSpace
		}
		if i > 0 && !g.c.Complete {
			tg.Limits.Executions = g.x.Learned().Coroutines + smallerExecutions
		}
		schedule, err := g.x.FindSmallest(ctx, tg)
		f := &found{Target: *tg}
		if errors.As(err, &f.ended) {
			if schedule, err = g.x.Path(g.c, kind); err == nil {
				schedule, err = g.t.ShrinkABit(schedule)
			}
		}
		if err != nil {
			return nil, err
		}
		f.schedule = schedule
		all = append(all, f)
	}
	return all, nil
}

// errGoodEnd ends a decision of which a counterexample has turned out to end well: all begins anew.
var errGoodEnd = errors.New("checker: the end of a counterexample is a good one")

// meet reconsiders a counterexample before it is made smaller, which may take long, and tells of the first that stands
// for the time being.
func (g *decision) meet(schedule sched.Schedule) error {
	if g.o.Found == nil && g.t.Property.Reconsider == nil {
		return nil
	}
	cx, err := g.t.Counterexample(schedule)
	if err != nil {
		return err
	}
	res := NewResult(g.t.Sc, g.t.Property, nil)
	res.Verdict, res.Counterexample = Broken, cx
	for _, quickly := range []bool{true, false} {
		good, err := res.reconsidered(quickly)
		switch {
		case err != nil:
			return err
		case good && !quickly && g.o.Found != nil:
			g.o.Found(nil)
			return errGoodEnd
		case good:
			return errGoodEnd
		case quickly && g.o.Found != nil && !g.told:
			g.o.Found(&res)
			g.told = true
		}
	}
	return nil
}

// explain adds the counterexample and the odds to a broken result.
func (g *decision) explain(ctx context.Context, res *Result) (err error) {
	if g.t.Property.NeedsProbe() {
		if trapped, err := g.trap(ctx, res); trapped || err != nil { // which may be smaller
			return err
		}
	}
	if err := g.findAll(ctx); err != nil {
		return err
	}
	for _, f := range g.found {
		cx, err := g.t.Counterexample(f.schedule)
		if err != nil {
			return err
		}
		cx.Smallest, cx.Others = f.ended == nil, f.Others
		res.Also = append(res.Also, cx)
	}
	res.Counterexample, res.Also = res.Also[0], res.Also[1:]
	if ended := g.found[0].ended; ended != nil {
		res.notSmallest(ended)
	}
	res.outlived(g.x)
	res.joined(g.x)
	if !g.trapsKnown {
		res.trapped(g.x, g.c.Complete)
	}
	return g.odds(ctx, res)
}

// odds adds the odds to a broken result.
func (g *decision) odds(ctx context.Context, res *Result) error {
	if g.o.SkipOdds {
		return nil
	}
	if g.x.Outlived() != nil {
		res.OddsWhy = outlived
		return nil
	}
	switch {
	case g.c.Enough && g.known&shown != 0:
		res.OddsWhy = "it takes too many executions to cover the space"
	case g.c.Enough:
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

// outlived says of what a broken wedge was not asked.
const outlived = "it was not asked where a process without a program lives on"

// outlived says that a counterexample need not be the smallest where somebody lived on of whom nothing is
// known.
func (r *Result) outlived(x *search.Explorer) {
	if r.Counterexample.Smallest && x.Outlived() != nil {
		r.Counterexample.Smallest = false
		r.notSmallest(&search.EndedError{Why: outlived})
	}
}

// joined says that a counterexample need not be the smallest where rounds of polling were taken to carry
// nothing over: a program that remembers one might break something sooner.
func (r *Result) joined(x *search.Explorer) {
	for _, cx := range r.Also {
		cx.Smallest = cx.Smallest && !x.Joins()
	}
	if r.Counterexample.Smallest && x.Joins() {
		r.Counterexample.Smallest = false
		r.notSmallest(&search.EndedError{Why: "rounds of polling were taken to carry nothing over"})
	}
}

// trapped says that a counterexample need not be the smallest where nobody has looked for traps, which are in the whole
// graph. covered: nothing was left out, so that loops are known.
func (r *Result) trapped(x *search.Explorer, covered bool) {
	if r.Counterexample.Smallest && (x.MayTrap() || !covered && r.Property.NeedsProbe()) {
		r.Counterexample.Smallest = false
		r.notSmallest(&search.EndedError{Why: "whether a process polls for ever in vain was not asked: " +
			"that takes the whole space, in memory"})
	}
}

// notSmallest says why a counterexample may not be the smallest.
func (r *Result) notSmallest(ended *search.EndedError) {
	if r.Why == "" {
		r.Why = ended.Why
	}
	r.Why += "; a smaller counterexample may exist"
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

// Of violations of several kinds the worst is shown, or that of [Options.Kind], and one of each other kind beside it.

// first is the kind that is shown if there is one; [scenarios.NoKind] where kinds are not told apart.
func (g *decision) first() scenarios.Kind {
	switch {
	case g.t.Property.Kind == nil:
		return scenarios.NoKind
	case g.o.Kind != scenarios.NoKind:
		return g.o.Kind
	}
	return scenarios.Lost
}

// compare orders kinds as they are shown.
func (g *decision) compare(a, b scenarios.Kind) int {
	switch first := g.first(); {
	case a == b:
		return 0
	case a.Before(b, first):
		return -1
	}
	return 1
}

// has reports whether a counterexample of a kind was found.
func (g *decision) has(kind scenarios.Kind) bool {
	return slices.ContainsFunc(g.found, func(f *found) bool { return f.Kind == kind })
}

// findAll finds a counterexample of each kind that was seen. Those of kinds that were found before stay: they
// are as small as any.
func (g *decision) findAll(ctx context.Context) error {
	missing := len(g.found) == 0
	for _, kind := range g.c.Kinds() {
		missing = missing || !g.has(kind)
	}
	if !missing {
		return nil
	}
	all, err := g.find(ctx)
	for _, f := range g.found {
		if !slices.ContainsFunc(all, func(a *found) bool { return a.Kind == f.Kind }) {
			all = append(all, f)
		}
	}
	g.found = all
	slices.SortFunc(g.found, func(a, b *found) int { return g.compare(a.Kind, b.Kind) })
	return err
}
