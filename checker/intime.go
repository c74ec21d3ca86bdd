package checker

import (
	"context"
	"fmt"
	"time"

	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// Programs are decided with clocks that stand still first: that is a small space. Where the verdict depends on
// clocks, it is that of the space in which they move and sleeps last (scenarios.Scenario.InTime).

// brokenByClock reports whether a property is broken by commands of which one looks at a clock.
func (r *Result) brokenByClock() bool {
	return r.Verdict == Broken && r.looks.Has(scenarios.ClockSeen) && r.Scenario.Late != nil
}

// dependsOnClocks reports whether clocks that move may give another verdict.
func (r *Result) dependsOnClocks(ctx context.Context) (bool, error) {
	if r.brokenByClock() {
		why, err := r.Scenario.Late(ctx, false)
		return why != "", err
	}
	return r.late || r.Verdict == Unknown && r.Why == frozen, nil
}

// brokenByTimes reports whether a property is broken by commands that sleep, and of which one acts on file times: these
// do not move where a sleep takes no time.
func (r *Result) brokenByTimes() (bool, error) {
	sc := r.Scenario
	if r.Verdict != Broken || !r.looks.Times() || sc.Apart == nil || sc.Slept == nil || sc.Slept() == 0 {
		return false, nil
	}
	apart, _, err := sc.Apart()
	return apart != nil, err
}

// LongSleep is how long programs sleep that may well outlast a lock, so that clocks that move are tried first.
const LongSleep = time.Second

// sleepersFirst draws a few schedules with clocks that move, where programs sleep for long. It returns what these break
// by the time; nil where they do not, or where time is not what breaks it. Once that was so, whether programs wait for
// each other for ever is asked of drawn schedules only: the space would have no end.
func sleepersFirst(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (*Result, error) {
	const drawn = 4
	if sc.InTime == nil || sc.Slept == nil || sc.Slept() < LongSleep {
		return nil, nil
	}
	in, err := sc.InTime()
	asked := in.Asked(p) // as of these commands
	if err != nil || asked == nil {
		return nil, nil // it is told where it matters
	}
	if o.Tried.InTime && asked.Question == scenarios.Stuck {
		s, err := Sample(ctx, &in, asked, SampleOptions{Strategy: "pct", Runs: drawn})
		if err == nil && s.Verdict == Unknown {
			s.Why = fmt.Sprintf("%s; what the programs do depends on how long others take, as is shown above; "+
				"--property %s explores the schedules in which nobody is delayed", s.Why, p.ID)
		}
		s.Result.checked = true
		return &s.Result, err
	}
	if o.Tried.InTime || asked.Question != scenarios.NoQuestion {
		return nil, nil
	}
	s, err := Sample(ctx, &in, asked, SampleOptions{Strategy: "pct", Runs: drawn})
	if err != nil || s.Verdict != Broken || !s.looks.Clock {
		return nil, err
	}
	// While clocks stand still, a program that polls for a time does so for ever, which PCT would have it do.
	still, err := Sample(ctx, sc, p, SampleOptions{Runs: drawn})
	if err != nil || still.Verdict == Broken {
		return nil, err
	}
	o.Tried.InTime, s.Result.checked = true, true
	return &s.Result, nil
}

// inTime decides programs again with clocks that move; nil where the verdict does not depend on it.
func (r Result) inTime(ctx context.Context, o Options) (*Result, error) {
	if r.Scenario.InTime == nil || ctx.Err() != nil {
		return nil, nil
	}
	if r.brokenByClock() {
		if moved := r.movedInTime(); moved != nil { // it is broken, and how much time matters is only told
			why, err := r.Scenario.Late(ctx, true)
			if why == "" {
				moved = nil
			}
			return moved, err
		}
	}
	times, err := r.brokenByTimes()
	if times && r.movedInTime() != nil || err != nil {
		return nil, err
	}
	if depends, err := r.dependsOnClocks(ctx); ctx.Err() != nil {
		return nil, nil
	} else if !depends && !times || err != nil {
		return nil, err
	}
	sc, p, err := r.askedInTime()
	if err == nil && p == nil {
		return nil, nil
	}
	var res Result
	if o.States >= smallSpace { // a first look
		o.States = 0
	}
	if err == nil {
		res, err = decideInTime(ctx, &sc, p, o.lastingStates(r.Stats.States))
	}
	switch {
	case err != nil && ctx.Err() == nil:
		res = Result{Why: err.Error()}
	case err != nil:
		res = Result{Why: "it was stopped"}
	case res.Verdict == Broken && res.Stats.States == 0: // drawn
		drawn := res.Stats.Schedules
		res.Stats = r.Stats
		res.Stats.Schedules = drawn
		return &res, nil
	case res.Verdict == Broken || res.late || res.Verdict == Holds && r.Verdict == Unknown:
		return &res, nil
	case res.Verdict == Holds:
		res.Why = "nothing breaks it"
	}
	if r.Verdict == Broken {
		r.Verdict, r.Complete, r.Counterexample = Unknown, false, nil
		r.Why = "it is broken where the clock stands still, and somebody looks at the time"
	}
	r.Why += "; with a clock that moves: " + res.Why
	return &r, nil
}

// askedInTime is the scenario in which clocks move, and the property of that; nil where it is not asked.
func (r *Result) askedInTime() (sc scenarios.Scenario, p *scenarios.Property, err error) {
	sc, err = r.Scenario.InTime()
	return sc, sc.Asked(r.Property), err
}

// anySleep decides programs again that hold where clocks move. There nobody wakes while others have anything to do, but
// one of them may be delayed while another polls. What looks at clocks then has no verdict, which says nothing.
func (r Result) anySleep(ctx context.Context, o Options) (Result, error) {
	sc, err := r.Scenario.AnySleep()
	if err != nil {
		return r, err
	}
	p := sc.Asked(r.Property)
	if p == nil {
		return r, nil
	}
	o.Tried = nil
	res, err := Check(ctx, &sc, p, o)
	switch {
	case err != nil || res.Verdict == Holds || res.late:
		return r, err
	case res.Verdict == Unknown:
		res.Why = "no delay of all commands at once breaks it. Whether it breaks when one command alone is slow, " +
			"while another one polls, is not known: " + res.Why
	}
	return res, nil
}

// movedInTime is a broken result where clocks move: its schedules once more, as far as they end in the same kind. It is
// nil where that of the counterexample does not, or that cannot be said.
func (r *Result) movedInTime() *Result {
	sc, p, err := r.askedInTime()
	if err != nil || p == nil {
		return nil
	}
	t, err := search.NewTester(&sc, p)
	if err != nil {
		return nil
	}
	var all []*trace.Counterexample
	for _, cx := range append([]*trace.Counterexample{r.Counterexample}, r.Also...) {
		out, err := follow(t, cx.Trace)
		if err == nil && out.Broken && out.Kind == cx.Kind {
			moved := t.Evidence(out)
			moved.Others = cx.Others
			all = append(all, moved)
		}
		if len(all) == 0 {
			return nil
		}
	}
	res := NewResult(&sc, p, all[0])
	res.Also, res.Stats, res.looks, res.OddsWhy, res.checked = all[1:], r.Stats, r.looks, r.OddsWhy, true
	if again, err := res.reconsidered(false); again || err != nil {
		return nil
	}
	return &res
}

// drawnInTime is how many schedules are drawn first: what these break needs no whole space.
const drawnInTime = 60

func decideInTime(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o Options) (Result, error) {
	if p.Question == scenarios.NoQuestion {
		s, err := Sample(ctx, sc, p, SampleOptions{Strategy: "pct", Runs: drawnInTime})
		if err != nil || s.Verdict == Broken {
			s.Result.checked = true
			return s.Result, err
		}
	}
	return check(ctx, sc, p, o)
}

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
	p := sc.Asked(r.Property)
	if p == nil {
		return Result{}, fmt.Errorf("%s is not asked there", r.Property.ID)
	}
	p.Disks = r.Property.Disks
	return check(ctx, sc, p, o.lastingStates(r.Stats.States))
}
