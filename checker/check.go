package checker

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/explain"
	"lockpick/checker/internal/graph"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// An Engine is a way of covering a space of schedules.
type Engine uint8

const (
	// Graph explores the graph of merged states; see package documentation.
	Graph Engine = iota
	// Reference runs every schedule from its start, one after the other.
	Reference
)

// Options bounds an exploration. The zero value explores everything with one worker
// for each processor, up to the default budgets.
type Options struct {
	Engine Engine
	// Schedules bounds the runs of the reference engine; 0 means 200 000.
	Schedules int
	// States bounds the stored states of the graph; 0 means 50 million.
	States int
	// Bytes bounds the memory for states; 0 means 8 GiB.
	Bytes int
	// Preemptions, when not nil, leaves out schedules with more preemptions. Such a
	// search never concludes Holds unless it covered everything all the same.
	Preemptions *int
	// Memory is what a state remembers of its past.
	Memory Memory
	// Symmetry keeps one of the states that differ only in who is who. The scenario must
	// declare its processes interchangeable.
	Symmetry bool
	// Workers is the number of parallel workers; 0 means one for each processor.
	Workers int
	// SkipOdds leaves out the exact odds of a violation, which take a second pass.
	SkipOdds bool
	// Progress, when not nil, is called now and then from one goroutine.
	Progress func(Progress)
}

// Memory is what a state remembers of the operations so far.
type Memory uint8

const (
	// RememberAuto keeps histories while the space is small, and starts again with
	// monitors when it turns out to be large.
	RememberAuto Memory = iota
	// RememberHistories keeps each distinct history, and has porcupine judge it.
	RememberHistories
	// RememberMonitors keeps what an incremental monitor makes of the history: far fewer
	// states. The monitor agrees with porcupine on every history of the test suite, and a
	// violation is confirmed by porcupine on the counterexample.
	RememberMonitors
)

// autoStates is where RememberAuto changes over.
const autoStates = 1_000_000

// Progress is how far an exploration has come.
type Progress struct {
	Scenario    string
	Property    *scenarios.Property
	States      int
	Transitions int
	Depth       int
	Frontier    int
	Bytes       int
}

const defaultSchedules = 200_000

// validate reports options that make no sense.
func (o *Options) validate() error {
	for _, b := range []struct {
		name string
		n    int
	}{{"schedules", o.Schedules}, {"states", o.States}, {"bytes", o.Bytes}, {"workers", o.Workers}} {
		if b.n < 0 {
			return fmt.Errorf("checker: a budget of %d %s: choose 1 or more, or 0 for the default", b.n, b.name)
		}
	}
	if o.Preemptions != nil && *o.Preemptions < 0 {
		return fmt.Errorf("checker: a bound of %d preemptions: choose 0 or more", *o.Preemptions)
	}
	return nil
}

// Check decides one property of a scenario. When ctx ends first, the verdict is
// Unknown with what was covered. The error is a fault of the scenario or the options,
// and then there is no verdict.
func Check(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (Result, error) {
	if err := o.validate(); err != nil {
		return Result{}, err
	}
	t, err := newTester(sc, p)
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
	res.Scenario, res.Property, res.Judgement = sc, p, p.Judgement()
	res.Claim, res.Claimed = sc.Claim(p)
	return res, nil
}

func checkByReference(ctx context.Context, t *tester, o Options) (Result, error) {
	budget := o.Schedules
	if budget == 0 {
		budget = defaultSchedules
	}
	res, first, err := searchAll(ctx, t, budget, false)
	if err != nil || first == nil {
		return res, err
	}
	best, err := t.shrink(*first)
	if err != nil {
		return res, err
	}
	res.Odds = -1
	res.Counterexample, err = t.counterexample(best.schedule)
	return res, err
}

func checkByGraph(ctx context.Context, t *tester, o Options) (Result, error) {
	if o.Preemptions != nil {
		x, err := newExplorer(t.sc, t.property)
		if err != nil {
			return Result{}, err
		}
		return x.checkBounded(ctx, t, o)
	}
	memory := o.Memory
	if memory == RememberAuto && (t.judge == nil || o.Symmetry) {
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

// exploreAndExplain is one exploration with everything that follows from it.
func exploreAndExplain(ctx context.Context, t *tester, o Options, memory Memory) (Result, error) {
	res := Result{Odds: -1}
	x, err := newExplorer(t.sc, t.property)
	if err != nil {
		return res, err
	}
	if memory == RememberMonitors && x.histories != nil {
		x.histories.RememberMonitors()
	}
	if o.Symmetry {
		if err := x.symmetric(); err != nil {
			return res, err
		}
	}
	c, err := x.explore(ctx, o, x.initial)
	if err != nil {
		return res, err
	}
	res.Complete, res.Why = c.complete, c.why
	broken := c.violations > 0
	switch {
	case t.property.OfCycles():
		if broken, err = x.checkStarvation(ctx, t, c, &res); err != nil {
			return res, err
		}
	case broken:
		err := x.explainBroken(ctx, t, o, c, &res)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			broken, res.Complete = false, false // without a schedule nobody has to believe it
			res.Why = "a violation was seen, but the search for its schedule was stopped"
		} else if err != nil {
			return res, err
		}
	}
	if res.Verdict = conclude(broken, res.Complete); res.Verdict == Holds && !x.evidence() {
		return res, nothingToJudge(t.sc, t.property)
	}
	x.stats(&res.Stats)
	res.Stats.States, res.Stats.Transitions = c.states.Len(), c.transitions
	res.Stats.Contended, res.Stats.Depth = c.met, c.depth
	res.Stats.Violations = len(x.fingerprints(c.violated))
	res.Stats.Bytes = x.bytes(c.states)
	return res, nil
}

// explainBroken adds the smallest counterexample and the odds to a broken result.
func (x *explorer) explainBroken(ctx context.Context, t *tester, o Options, c *coverage, res *Result) error {
	schedule, err := x.findSmallest(ctx, &target{})
	if err != nil {
		return err
	}
	if res.Counterexample, err = t.counterexample(schedule); err != nil {
		return err
	}
	res.Counterexample.Smallest = true
	if o.SkipOdds || !c.complete {
		return nil
	}
	g, err := x.buildGraph(ctx, c.states)
	if err != nil {
		return nil // stopped: the verdict stands without odds
	}
	start, _ := c.states.Find(x.initial)
	res.Odds = g.Odds(uint32(start))
	return nil
}

// checkBounded covers only the schedules with few preemptions.
func (x *explorer) checkBounded(ctx context.Context, t *tester, o Options) (Result, error) {
	res := Result{Odds: -1}
	if t.property.OfCycles() {
		return res, fmt.Errorf("checker: starvation is a question about whole cycles: it has no bound on preemptions")
	}
	tg := &target{preemptions: o.Preemptions}
	schedule, err := x.findSmallest(ctx, tg)
	if err != nil {
		res.Why = err.Error()
		return res, nil
	}
	x.stats(&res.Stats)
	res.Complete = schedule == nil && !tg.pruned
	if res.Verdict = conclude(schedule != nil, res.Complete); res.Verdict == Holds && !x.evidence() {
		return res, nothingToJudge(t.sc, t.property)
	}
	if schedule != nil {
		res.Counterexample, err = t.counterexample(schedule)
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
func (x *explorer) checkStarvation(ctx context.Context, t *tester, c *coverage, res *Result) (bool, error) {
	if !c.complete {
		return false, nil
	}
	g, err := x.buildGraph(ctx, c.states)
	if err != nil {
		res.Complete, res.Why = false, "it was stopped"
		return false, nil
	}
	found := x.starvation(g, c.states)
	if len(found) == 0 {
		return false, nil
	}
	who := map[uint32]graph.Starving{}
	for i := len(found) - 1; i >= 0; i-- {
		for _, id := range found[i].States {
			who[id] = found[i]
		}
	}
	prefix, err := x.findSmallest(ctx, &target{goal: func(state []uint32) bool {
		id, ok := c.states.Find(state)
		_, in := who[uint32(id)]
		return ok && in
	}})
	if err != nil {
		return true, err
	}
	rows, err := x.follow(prefix)
	if err != nil {
		return true, err
	}
	start, _ := c.states.Find(rows[len(rows)-1])
	s := who[uint32(start)]
	schedule, cycle := x.lasso(g, prefix, uint32(start), s)
	ce, err := t.trace(schedule)
	if err != nil {
		return true, err
	}
	ce.Smallest, ce.Cycle = true, cycle
	ce.Waits = []trace.Wait{{How: trace.Starves, Task: x.slots[s.Slot].task}}
	ce.Cause = explain.Cause(t.sc, ce)
	res.Counterexample = ce
	return true, nil
}

// counterexample replays a failing schedule and keeps everything.
func (t *tester) counterexample(s sched.Schedule) (*trace.Counterexample, error) {
	o, err := t.run(sched.Replay{Schedule: s}, true)
	if err != nil {
		return nil, err
	}
	if !o.broken {
		return nil, fmt.Errorf("checker: %s: schedule %q broke %s in the search and does not when replayed: this is a fault of lockpick or a program that is not deterministic",
			t.sc.ID, s, t.property)
	}
	return t.evidence(o), nil
}

// trace replays a schedule for its trace, whether it breaks the property or not.
func (t *tester) trace(s sched.Schedule) (*trace.Counterexample, error) {
	o, err := t.run(sched.Replay{Schedule: s}, true)
	return t.evidence(o), err
}

func (t *tester) evidence(o outcome) *trace.Counterexample {
	cx := &trace.Counterexample{
		Property: t.property, Schedule: o.schedule, Cost: o.cost,
		Trace: o.trace, History: o.history, Waits: o.waits, Said: o.said,
	}
	if o.broken {
		cx.Cause = explain.Cause(t.sc, cx)
	}
	return cx
}
