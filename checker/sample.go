package checker

import (
	"context"
	"fmt"
	"strings"

	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

// SampleOptions says how schedules are drawn.
type SampleOptions struct {
	// Strategy is the name of one of [sched.Drawings]; empty means the first, random.
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

// Elsewhere says in which case of what file systems do the schedules were drawn, and how to draw in another; "" where
// no task was told what differs.
func (s *Sampled) Elsewhere() string {
	cases := s.Scenario.Setting.Assumed().Cases(s.looks.Inodes(), s.looks.Times())
	if len(cases) == 1 {
		return ""
	}
	var others []string
	for i := range cases {
		if cases[i].Sleeps = scenarios.SleepsOpen; i > 0 {
			others = append(others, cases[i].String())
		}
	}
	return fmt.Sprintf("drawn only where %s; --assume %s draws elsewhere", cases[0].Where(),
		strings.Join(others, " or "))
}

// Sample runs drawn schedules. Its verdict is Broken, with a counterexample shrunk to a
// local minimum, or Unknown: a sample never shows that a property holds.
//
// Where tasks sleep and somebody can see how long, the runs are made again with sleeps that last.
func Sample(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o SampleOptions) (Sampled, error) {
	s, err := sample(ctx, sc, p, o)
	if err != nil {
		return s, err
	}
	in, err := lasting(sc, s.looks)
	if in == nil || err != nil {
		return s, err
	}
	return sample(ctx, in, p, o)
}

func sample(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o SampleOptions) (Sampled, error) {
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Sampled{}, err
	}
	if o.Runs < 0 || o.Depth < 0 || o.Steps < 0 {
		return Sampled{}, fmt.Errorf("checker: %d runs of depth %d and %d steps: choose 1 or more, or 0 for the "+
			"default", o.Runs, o.Depth, o.Steps)
	}
	if p.OfCycles() {
		return Sampled{}, fmt.Errorf("checker: starvation is a question about cycles, which no drawn schedule " +
			"shows: check it instead")
	}
	if o.Runs == 0 {
		o.Runs = 10_000
	}
	d, err := drawing(t, &o)
	if err != nil {
		return Sampled{}, err
	}
	t.Unjudged = o.Unjudged
	s := Sampled{Result: NewResult(sc, p, nil), First: -1}
	var first search.Outcome
	for i := range o.Runs {
		if ctx.Err() != nil {
			s.Why = fmt.Sprintf("stopped after %d runs", i)
			break
		}
		out, err := t.Run(d.New(o.Seed+uint64(i), o.Steps, o.Depth), false)
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
	s.Stats.Histories, s.looks = t.Histories(), t.Observed()
	if s.First < 0 {
		if s.Why == "" {
			s.Why = fmt.Sprintf("%d drawn schedules broke nothing, which proves nothing", s.Runs)
			if t.TooLarge {
				s.Why += "; whether some that go on for ever keep everybody out was not decided, since too many " +
					"states follow"
			}
			if err := t.Lacking(); err != nil {
				s.Why += "; " + err.Error()
			}
			if where := s.Elsewhere(); where != "" {
				s.Why += "; " + where
			}
		}
		return s, nil
	}
	s.Verdict = Broken
	best, err := t.Shrink(first)
	if err != nil {
		return s, err
	}
	if s.Counterexample, err = t.Counterexample(best.Schedule); err != nil {
		return s, err
	}
	if again, err := s.reconsidered(false); err != nil || again {
		if err == nil {
			s, err = sample(ctx, sc, p, o)
		}
		return s, err
	}
	return s, nil
}

// drawing returns the kind of strategy that o asks for, with a length of runs and a depth
// where it needs them.
func drawing(t *search.Tester, o *SampleOptions) (sched.Drawing, error) {
	d, err := sched.FindDrawing(o.Strategy)
	if err != nil {
		return d, fmt.Errorf("checker: %w", err)
	}
	if d.Depth && o.Steps == 0 {
		out, err := t.Run(sched.RunToCompletion{}, false)
		if err != nil {
			return d, err
		}
		o.Steps = max(len(out.Schedule), 1)
	}
	if o.Depth == 0 {
		o.Depth = 3
	}
	return d, nil
}
