package checker

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A program with many branches has more states than can be covered, and each new branch is an execution. So when so
// many executions or states have not covered the space, schedules with few preemptions come first: one preemption
// finds most of what there is.
const (
	glimpseExecutions = 8
	glimpseStates     = 20_000
)

// With one preemption there are as many schedules as places, and all are made. Of those with two, there may be as many
// as the square of that: as many are made as take so many more executions and states. Then come
// directed schedules, and so many are drawn that have up to three.
const (
	pairExecutions = 200
	pairStates     = 30_000
	drawnSchedules = 25
)

// When a counterexample is known, the search for a smaller one may take as many executions as there were until then, or
// smallerExecutions if that is more. For the odds that random runs find one a space is covered that takes
// oddsExecutions at most.
const smallerExecutions, oddsExecutions = 64, 64

// Before a bound is looked at again, the space is tried with as many executions as were made until then, or
// againExecutions if that is more, and with so many states.
const againExecutions, againStates = 32, 25_000

// mayPreempt reports whether schedules with few preemptions may show that a property is broken. They do not where it is
// about cycles, or about what fresh processes find.
func mayPreempt(p *scenarios.Property) bool {
	return !p.OfCycles() && (p.Question == scenarios.NoQuestion || p.Question == scenarios.Stuck)
}

// Within says what was covered where a space was not: every schedule without faults and with up to so many
// preemptions. Places is at how many places a schedule can be preempted for the last time.
type Within struct {
	Preemptions int `json:"preemptions"`
	Places      int `json:"places"`
	// Faultless: the setting allows faults, and they were left out. Still: programs may look at the clock, and it was
	// not tried out whether they do something else when time has passed.
	Faultless, Still bool `json:"-"`
	// Fair: a program that sleeps lets the others go on first, or sleeps through to its end. To go on before they have
	// is another preemption.
	Fair bool `json:"-"`
}

// String says it in words.
func (w *Within) String() string {
	text := fmt.Sprintf("holds with up to %d preemptions (the last at any of %d places)", w.Preemptions, w.Places)
	if w.Preemptions == 1 {
		text = fmt.Sprintf("holds with up to 1 preemption (all %d places)", w.Places)
	}
	if w.Faultless {
		text += " and no fault"
	}
	if w.Still {
		text += " while the clock stands still"
	}
	if w.Fair {
		text += " where programs that sleep let the others go on, or sleep through to their end"
	}
	return text + ", unknown beyond"
}

// Known says of a verdict that is unknown what is known, and why no more is.
func (r *Result) Known() string {
	if r.Within != nil && r.Verdict == Unknown {
		return r.Within.String() + "; " + r.Why
	}
	return r.Why
}

// preempt makes the schedules with up to one preemption, some with two, and draws some. It says why that was not
// enough.
func (g *decision) preempt(ctx context.Context) (why string, err error) {
	limits := g.o.limits(g.t.Sc, g.t.Property)
	limits.Local = traitsOf(g.t).local
	few := g.x.OneOrder() && faults(&g.t.Sc.Setting) == 0 // nothing holds, and this breaks most of what is broken
	if few {
		limits.Executions = g.x.Learned().Coroutines + pairExecutions
	}
	if err = g.delays(ctx); err == nil && len(g.found) > 0 {
		return g.enough(), nil
	}
	if err != nil {
		return "", err
	}
	p, err := g.x.CoverPreemptions(ctx, g.first(), limits, 2, 1,
		search.Limits{Executions: pairExecutions, States: pairStates})
	if err != nil {
		return "", err
	}
	g.preempted = p
	if len(p.Broken) > 0 {
		err = g.smallestOf(ctx, p)
	}
	if err == nil && !p.Whole && !g.has(g.first()) && ctx.Err() == nil {
		err = g.drawn(ctx)
	}
	switch {
	case err != nil:
		return "", err
	case len(g.found) > 0:
		return g.enough(), nil
	case few && ctx.Err() == nil:
		g.c.Why = g.oneOrder()
		return "", nil
	case ctx.Err() != nil:
		g.c.Why = fmt.Sprintf("it was stopped while schedules with few preemptions were made (at most %d)", p.Bound+1)
		return "", nil
	}
	return "few preemptions break nothing", nil
}

// enough ends the search for what breaks a property. It says what is left.
func (g *decision) enough() string {
	g.known |= shown
	g.c.Enough = true
	return "whether random runs find it, too, is not known yet"
}

// tell tells how far it has come, with how much was learned.
func (g *decision) tell(p search.Progress) {
	if tell := g.o.limits(g.t.Sc, g.t.Property).Progress; tell != nil {
		l := g.x.Learned()
		p.Executions, p.Learned = l.Coroutines, l.Edges
		tell(p)
	}
}

// smallestOf makes the schedules smaller that break the property, one of each kind. None that is smaller has more
// preemptions.
func (g *decision) smallestOf(ctx context.Context, p *search.Preempted) error {
	slices.SortFunc(p.Broken, func(a, b search.BrokenSchedule) int { return g.compare(a.Kind, b.Kind) })
	for i := range p.Broken {
		b := &p.Broken[i]
		if err := g.meet(b.Schedule); err != nil {
			return err
		}
		g.tell(search.Progress{Broken: true, Depth: len(b.Schedule), Preemptions: b.Preemptions})
		l := g.x.Learned()
		tg := &search.Target{
			Kind: b.Kind, Preemptions: &b.Preemptions, NoFaults: true, Monitors: true, Beside: g.c.States.Bytes(),
			Limits: search.Limits{Bytes: g.o.Bytes, Executions: l.Coroutines + max(l.Coroutines, smallerExecutions)},
		}
		schedule, err := g.x.FindSmallest(ctx, tg)
		f := &found{Target: *tg, schedule: schedule}
		if errors.As(err, &f.ended) {
			f.schedule, err = b.Schedule, nil
		}
		if err != nil {
			return err
		}
		g.found = append(g.found, f)
	}
	return nil
}

// confirmBound notes what holds with few preemptions, once everything that it rests on was looked at again.
func (g *decision) confirmBound(ctx context.Context) (why string, err error) {
	p := g.preempted
	if p.Bound < 1 || g.c.Violations > 0 || g.x.OneOrder() {
		return "few preemptions are no bound", nil
	}
	g.tell(search.Progress{Again: true})
	if err = g.x.Confirm(ctx); err == nil && g.t.Sc.Unjudged != nil {
		why = g.t.Sc.Unjudged()
	}
	switch {
	case ctx.Err() != nil:
		g.c.Why = "it was stopped while what holds with few preemptions was looked at again"
		return "", nil
	case err == nil && why == "":
		g.within = &Within{
			Preemptions: p.Bound, Places: p.Places, Faultless: faults(&g.t.Sc.Setting) > 0,
			Still: g.t.Sc.Late != nil, Fair: p.Fair,
		}
		why = g.within.String()
	}
	return why, err
}

// faults is how many a setting allows.
func faults(set *scenarios.Setting) int {
	return set.Crashes + set.Stalls + set.PowerLosses + set.FailingCalls + set.Signals
}

// drawn makes schedules with more preemptions, directed ones first, and keeps the first of each kind that breaks the
// property.
func (g *decision) drawn(ctx context.Context) error {
	if g.t.Property.Question != scenarios.NoQuestion {
		return nil
	}
	walks, tasks, steps, err := g.alone()
	if err != nil {
		return err
	}
	var all []sched.Strategy
	if len(walks) == 2 {
		for i, w := range walks {
			for _, c := range directed(w, walks[1-i], tasks[i], tasks[1-i]) {
				all = append(all, &c)
			}
		}
	}
	for i := range drawnSchedules {
		all = append(all, sched.NewPCT(uint64(i), steps, 4))
	}
	return g.try(ctx, all)
}

// delays makes schedules in which the clock jumps while one process is about to touch a name after it has changed one,
// and the other goes on to its end: so is broken what takes over from who lives and is slow.
func (g *decision) delays(ctx context.Context) error {
	if g.t.Sc.Setting.Stalls == 0 || g.t.Property.Question != scenarios.NoQuestion {
		return nil
	}
	walks, tasks, _, err := g.alone()
	if err != nil || len(walks) != 2 {
		return err
	}
	var all []sched.Strategy
	for i, w := range walks {
		for _, steps := range delayed(w, tasks[i]) {
			all = append(all, &course{{tasks[i], steps, true}, {tasks[1-i], math.MaxInt, false}})
		}
	}
	return g.try(ctx, all)
}

// try makes runs until one breaks the property in the way that is worst, and keeps the first of each kind.
func (g *decision) try(ctx context.Context, all []sched.Strategy) (err error) {
	for i := 0; i < len(all) && err == nil && ctx.Err() == nil && !g.has(g.first()); i++ {
		var out search.Outcome
		g.tell(search.Progress{Drawn: i, Draws: len(all)})
		out, err = g.t.Run(all[i], false)
		if err == nil && out.Broken && !g.has(out.Kind) {
			f := &found{ended: &search.EndedError{Why: "the schedule was drawn"}}
			f.Kind = out.Kind
			if err = g.meet(out.Schedule); err == nil {
				f.schedule, err = g.t.ShrinkABit(out.Schedule)
			}
			g.found = append(g.found, f)
		}
	}
	slices.SortFunc(g.found, func(a, b *found) int { return g.compare(a.Kind, b.Kind) })
	return err
}

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
		*o.log = append(*o.log, Attempt{Where: assumed(t.Sc), Name: fmt.Sprintf("in the order of cost, with at most "+
			"%d preemptions", *o.Preemptions)})
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
		res.Complete, res.Why = false, "nothing that a schedule ends with breaks it; whether somebody goes on for "+
			"ever in vain has no bound on preemptions"
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
		res.Why = fmt.Sprintf("no schedule with at most %d preemptions breaks it; schedules with more were left "+
			"out", *o.Preemptions)
	}
	return res, nil
}
