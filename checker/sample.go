package checker

import (
	"context"
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

// SampleOptions says how schedules are drawn.
type SampleOptions struct {
	// Strategy is "random" or "pct"; empty means random.
	Strategy string
	// Runs is the number of schedules; 0 means 10 000.
	Runs int
	// Seed of the first run; run i draws under Seed+i.
	Seed uint64
	// Depth of the bugs that pct looks for; 0 means 3.
	Depth int
	// Steps that pct expects of a run; 0 means what a first run took.
	Steps int
	// KeepGoing makes it go on after a violation, to count them all.
	KeepGoing bool
	// Unjudged leaves the histories unjudged: for measuring what judging costs.
	Unjudged bool
}

// Sampled is what a sample showed.
type Sampled struct {
	Result
	// Runs made, and how many of them broke the property.
	Runs, Failures int
	// First is the number of the first run that broke it, from 0; -1 for none.
	First int
}

// Sample runs drawn schedules. Its verdict is Broken, with a counterexample shrunk to a
// local minimum, or Unknown: a sample never shows that a property holds.
func Sample(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o SampleOptions) (Sampled, error) {
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Sampled{}, err
	}
	if o.Runs < 0 || o.Depth < 0 || o.Steps < 0 {
		return Sampled{}, fmt.Errorf("checker: %d runs of depth %d and %d steps: choose 1 or more, or 0 for the default", o.Runs, o.Depth, o.Steps)
	}
	if p.OfCycles() {
		return Sampled{}, fmt.Errorf("checker: starvation is a question about cycles, which no drawn schedule shows: check it instead")
	}
	if o.Runs == 0 {
		o.Runs = 10_000
	}
	t.Unjudged = o.Unjudged
	s := Sampled{Result: NewResult(sc, p, nil), First: -1}
	var first search.Outcome
	for i := range o.Runs {
		if ctx.Err() != nil {
			s.Why = fmt.Sprintf("stopped after %d runs", i)
			break
		}
		st, err := strategy(t, &o, o.Seed+uint64(i))
		if err != nil {
			return s, err
		}
		out, err := t.Run(st, false)
		if err != nil {
			return s, err
		}
		s.Runs++
		s.Stats.Schedules++
		s.Stats.Contended += out.Contended
		if out.Broken {
			if s.Failures++; s.First < 0 {
				s.First, first = i, out
			}
			if !o.KeepGoing {
				break
			}
		}
	}
	s.Stats.Histories = t.Histories()
	if s.First < 0 {
		if s.Why == "" {
			s.Why = fmt.Sprintf("%d drawn schedules broke nothing, which proves nothing", s.Runs)
			if !t.Judgeable {
				s.Why += "; " + engine.NothingToJudge(sc, p).Error()
			}
		}
		return s, nil
	}
	s.Verdict = Broken
	best, err := t.Shrink(first)
	if err != nil {
		return s, err
	}
	s.Counterexample, err = t.Counterexample(best.Schedule)
	return s, err
}

// strategy makes the strategy of one run.
func strategy(t *search.Tester, o *SampleOptions, seed uint64) (sched.Strategy, error) {
	switch o.Strategy {
	case "", "random":
		return sched.NewRandom(seed), nil
	case "pct":
		if o.Steps == 0 {
			out, err := t.Run(sched.RunToCompletion{}, false)
			if err != nil {
				return nil, err
			}
			o.Steps = max(len(out.Schedule), 1)
		}
		depth := o.Depth
		if depth == 0 {
			depth = 3
		}
		return sched.NewPCT(seed, o.Steps, depth), nil
	}
	return nil, fmt.Errorf("checker: unknown strategy %q: choose random or pct", o.Strategy)
}
