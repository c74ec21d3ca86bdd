package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// A decision is one verdict of the graph engine on its way.
type decision struct {
	t *search.Tester
	o Options
	// preempted is what schedules with few preemptions came to, and within what of that was looked at again; nil for
	// nothing.
	preempted *search.Preempted
	within    *Within
	*space             // the one that the attempts work in
	spaces    []*space // all that they may come back to
	known     facts
	// carries is why rounds of polling cannot be joined; nil where that was not tried out.
	carries error
	// ask: it is enough to know which cases there are. cases: there are several, and the space was
	// left alone.
	ask, cases bool
	// told: somebody was told of a counterexample.
	told bool
	// trapsKnown: it was asked whether somebody goes on for ever in vain, and nobody does.
	trapsKnown bool
}

// A space is what one explorer knows, and what was found with it.
type space struct {
	symmetry bool
	joined   bool
	clean    bool
	from     *space // where to go on if this one is no good
	x        *search.Explorer
	c        *search.Coverage
	// found are the smallest counterexamples, if they were searched for already.
	found []*found
}

// An Attempt is what became of one way to cover a space.
type Attempt struct {
	// Where says which case of what file systems and sleeps do it was about; "" for none in particular.
	Where string
	// Name says what was done, and Why for what reason that was not enough; "" for the attempt that decided.
	Name, Why string
}

// traitsOf is what a plan for a tester's question depends on.
func traitsOf(t *search.Tester) traits {
	return traits{
		judged: t.Judge != nil, cycles: t.Property.OfCycles(), external: t.Sc.Expensive(),
		interchangeable: t.Sc.Setting.Interchangeable, preempts: mayPreempt(t.Property),
		local: t.Sc.External && t.Judge == nil &&
			(t.Property.Invariant != nil || t.Property.Question == scenarios.Stuck),
		invariant: t.Sc.External && t.Property.Invariant != nil &&
			t.Sc.Setting.Assume.Sleeps == scenarios.SleepsLast,
	}
}

// run makes one attempt after the other until one is accepted.
func (g *decision) run(ctx context.Context, plan []attempt) error {
	for i, a := range plan {
		if a.needs&^g.known != 0 || a.unless&g.known != 0 {
			continue
		}
		why, err := g.make(ctx, &a)
		if err != nil {
			if why, err = g.refused(&a, err); err != nil {
				return err
			}
			g.space = g.from
			if ctx.Err() != nil && a.meanwhile() != "" && g.c != nil {
				g.c.Why = fmt.Sprintf("it was stopped: %d states and %d transitions covered, and %s", g.c.Count(),
					g.c.Transitions, a.meanwhile())
				return nil
			}
		}
		g.log(&a, why)
		if why == "" || g.cases {
			g.keep(g.space, nil)
			break
		}
		g.keep(g.space, plan[i+1:])
	}
	if g.carries != nil && !g.joined && g.c.Why != "" {
		g.c.Why += "; each sequence of rounds of polling is a path of its own, " + pathsOf(g.carries)
	}
	return nil
}

// make makes an attempt. It says why that was not enough, and fails where the reduction is no good.
func (g *decision) make(ctx context.Context, a *attempt) (why string, err error) {
	if err := g.enter(a); err != nil {
		return "", err
	}
	if a.memory == RememberMonitors {
		g.x.RememberMonitors()
	}
	switch {
	case a.preempts:
		return g.preempt(ctx)
	case a.confirms:
		return g.confirmBound(ctx)
	case a.again:
		made := g.x.Learned().Coroutines
		a.limits.Executions = made + max(made, againExecutions)
		// Each order of a command's own calls is an execution: those that come to the same are left out.
		a.limits.Local = traitsOf(g.t).local && g.x.OwnOrders()
	}
	g.c, err = g.x.Explore(ctx, a.limits, g.x.Initial)
	if err == nil {
		if a.limits.Local && g.c.Violations > 0 && g.c.Complete { // states were left out, which odds would need
			g.c.Complete, g.c.Enough = false, true
		}
		why, err = g.missing(ctx, a)
	}
	if err == nil && why == "" && a.joined {
		err = g.confirmJoined(ctx)
	}
	return why, err
}

// enter goes to the space that an attempt is about, which may be new.
func (g *decision) enter(a *attempt) error {
	of := &space{symmetry: a.symmetry, joined: a.joined, clean: a.clean, from: g.space}
	i := slices.IndexFunc(g.spaces, of.same)
	if i >= 0 {
		g.space = g.spaces[i]
		return nil
	}
	first := g.x == nil
	g.space = of
	x, err := search.NewExplorer(g.t.Sc, g.t.Property)
	if err != nil {
		return err
	}
	x.Tried, of.x = g.o.Tried, x
	g.spaces = append(g.spaces, of)
	switch {
	case a.joined:
		of.from.x.Close() // what is kept for further learning, which may never come
		x.JoinRounds(a.clean)
	case first && g.t.Sc.Expensive():
		g.t.ExploreWith(x)
	}
	if a.symmetry {
		return x.Symmetric()
	}
	return nil
}

func (s *space) same(t *space) bool {
	return s.symmetry == t.symmetry && s.joined == t.joined && s.clean == t.clean
}

// keep ends what is kept of all spaces but one and those that a plan comes back to.
func (g *decision) keep(one *space, plan []attempt) {
	g.spaces = slices.DeleteFunc(g.spaces, func(s *space) bool {
		needed := s == one || slices.ContainsFunc(plan, func(a attempt) bool {
			return s.same(&space{symmetry: a.symmetry, joined: a.joined, clean: a.clean}) && a.unless&g.known == 0
		})
		if !needed {
			s.x.Close()
		}
		return !needed
	})
}

// moot reports whether more schedules tell nothing of a property: each end of the one program is right, or somebody
// waits for ever where only a few orders of a program's own calls are followed.
func (g *decision) moot() bool {
	set := &g.t.Sc.Setting
	return g.x.OneOrder() && g.t.Property.Question != scenarios.NoQuestion ||
		g.t.Property.Unjudged != "" && set.Processes == 1 && faults(set) == 0
}

// missing says why what was covered is not enough; "" if it is.
func (g *decision) missing(ctx context.Context, a *attempt) (why string, err error) {
	if a.accept == whenComplete {
		if g.known&shown != 0 {
			g.c.Enough = !g.c.Complete
			return "", nil
		}
		switch {
		case g.c.Complete || ctx.Err() != nil:
			return "", nil
		case g.moot():
			g.c.Why = g.oneOrder()
			return "", nil
		}
		return g.c.Why, nil
	}
	if g.c.Outrun {
		g.known |= manyPaths
		if g.c.Violations == 0 && len(g.found) == 0 && g.x.MayJoin() {
			g.known |= roundsOpen
			if g.x.SleepsAsOwner() {
				g.known |= ownersSleep
			}
		}
		return g.c.Why, nil
	}
	if a.accept != whenDecided || g.c.Complete || g.c.Enough || ctx.Err() != nil {
		return "", nil
	}
	if g.c.Violations > 0 { // what was seen is never unknown, whatever comes next
		g.known |= brokenSoFar
		if g.found, err = g.find(ctx); err != nil {
			return "", err
		}
	}
	if a.memory == RememberHistories && g.t.Judge != nil {
		if err := g.x.Histories.FinalCheck(ctx, 1); err != nil && ctx.Err() == nil {
			return "", err
		}
		if g.cases = g.ask && len(g.found) == 0 && severalCases(g.t.Sc, g.x.Observed()); g.cases {
			return "each case of what file systems do is decided instead", nil
		}
	}
	return g.c.Why, nil
}

// refused says why an attempt was no good that ended with an error, or returns the error if that ends the search.
func (g *decision) refused(a *attempt, err error) (why string, fatal error) {
	switch {
	case errors.Is(err, errGoodEnd):
		return "", err
	case a.joined:
		g.carries = err
		g.known &^= roundsOpen | brokenSoFar
	case a.accept != whenSound:
		return "", err
	}
	return strings.TrimPrefix(err.Error(), "checker: "), nil
}

// confirmJoined asks of what breaks a property where rounds of polling are joined whether it is so when the
// programs themselves run.
func (g *decision) confirmJoined(ctx context.Context) (err error) {
	if g.c.Violations > 0 {
		if err = g.findAll(ctx); err == nil {
			_, err = g.t.Counterexample(g.found[0].schedule)
		}
	}
	if err == nil {
		g.t.ExploreWith(g.x)
	}
	return err
}

// pathsOf says why there are so many paths, for the reason why rounds of polling could not be joined.
func pathsOf(carries error) string {
	var c *learn.CarriesError
	if errors.As(carries, &c) {
		return fmt.Sprintf("and there may be no end of them: %s makes the call %q where it made %q before, after rounds "+
			"alike, as a program does that counts its attempts or waits longer each time. With fewer attempts, or a "+
			"shorter time limit, there is an end", c.Task, c.Is, c.Was)
	}
	if errors.Is(carries, learn.ErrCarriesOver) {
		return fmt.Sprintf("and there may be no end of them, because %v", carries)
	}
	return "for what a program does hangs on more than its last round: a number of attempts, say"
}

// log notes what became of an attempt.
func (g *decision) log(a *attempt, why string) {
	if g.o.log != nil {
		*g.o.log = append(*g.o.log, Attempt{Where: assumed(g.t.Sc), Name: a.name, Why: why})
	}
}

// assumed is which case of what file systems do a scenario is about; "" for none in particular.
func assumed(sc *scenarios.Scenario) string {
	if sc.Setting.Assume == (scenarios.Assumptions{}) {
		return ""
	}
	return sc.Setting.Assume.String()
}
