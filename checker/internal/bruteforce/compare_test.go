package bruteforce_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"lockpick/checker"
	"lockpick/checker/internal/bruteforce"
	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A comparison is one property of one protocol, answered by brute force and by lockpick in
// all its ways.
type comparison struct {
	p        *bruteforce.Protocol
	name     string // of the property
	seed     uint64
	property *scenarios.Property
	sc       *scenarios.Scenario
	want     *bruteforce.Answer
	tried    *checker.Tried // the rounds of the protocol, for all that lockpick is asked
	outcome  string
}

// mostStates is how many states lockpick may store, so that a space without end is given up.
const mostStates = 30_000

// tooLarge is the outcome of a protocol that brute force does not finish.
const tooLarge = "too large"

// alwaysShows is what lockpick says of the world where time stamps may have no end.
const alwaysShows = "always shows in the time stamp"

// unboundedStamps is the outcome of a protocol that lockpick does not finish in the world where a
// change always shows in the time stamp, which brute force does not look at: a file that is
// written in every round of a loop, and never looked at, gets a new time each time.
const unboundedStamps = "unknown: time stamps without end"

// manySerial is the outcome of a protocol with more serial runs than lockpick makes.
const manySerial = "serial runs, which is too many"

// A way is one way to ask lockpick.
type way struct {
	name    string
	options checker.Options
}

func (c *comparison) ways() []way {
	out := []way{
		{"graph", checker.Options{Workers: 1}},
		{"histories, two workers", checker.Options{Workers: 2, Memory: checker.RememberHistories}},
		{"monitors", checker.Options{Workers: 1, Memory: checker.RememberMonitors}},
		{"monitors, two workers", checker.Options{Workers: 2, Memory: checker.RememberMonitors}},
	}
	if c.p.Alike && c.property.Symmetric && !c.p.Pids {
		out = append(out,
			way{"symmetry", checker.Options{Workers: 1, Symmetry: true}},
			way{"symmetry, monitors", checker.Options{Workers: 2, Symmetry: true, Memory: checker.RememberMonitors}})
	}
	return out
}

// few is up to how many protocols each is asked in some of the ways only, other ones for each: the first
// and two more. A protocol that was found is asked in all.
const few = 1000

// inTurns are the ways in which this protocol is asked.
func (c *comparison) inTurns(all []way) []way {
	if c.seed == 0 || *protocols > few {
		return all
	}
	others := all[1:]
	i := int(c.seed) % len(others)
	return []way{all[0], others[i], others[(i+1)%len(others)]}
}

// others are what is compared beside the explorations. Of the engines that make runs a few protocols ask
// one each, in turn: the reference engine those that it may run longest for, too.
func (c *comparison) others() []func(context.Context) error {
	switch {
	case c.seed == 0 || *protocols > few:
		return []func(context.Context) error{c.bounded, c.reference, c.samples}
	case c.seed/2%2 == 0:
		return []func(context.Context) error{c.bounded, c.reference}
	}
	return []func(context.Context) error{c.bounded, c.samples}
}

// A difference is the error of a comparison in which lockpick said something else.
type difference struct{ text string }

func (d difference) Error() string { return d.text }

func differ(format string, args ...any) error { return difference{fmt.Sprintf(format, args...)} }

// differs reports whether an error of run is a difference, and not that a protocol makes no
// sense.
func (c *comparison) differs(err error) bool {
	return errors.As(err, &difference{}) || err != nil && strings.Contains(err.Error(), "fault of lockpick")
}

// run compares everything, and reports the first difference.
func (c *comparison) run(ctx context.Context) error {
	c.sc, c.property = c.p.Scenario(), bruteforce.Property(c.name)
	var err error
	c.want, err = bruteforce.Solve(c.p, c.property, maxStates)
	switch {
	case errors.Is(err, bruteforce.ErrTooLarge):
		c.outcome = tooLarge
		return nil
	case errors.Is(err, bruteforce.ErrNotModelled):
		c.outcome = "not modelled"
		if _, err := checker.Check(ctx, c.sc, c.property, checker.Options{Workers: 1}); err == nil {
			return differ("a call is not modelled, and there is a verdict")
		}
		return nil
	case errors.Is(err, bruteforce.ErrSpins):
		c.outcome = "spins on a cell"
		r, err := checker.Check(ctx, c.sc, c.property, checker.Options{Workers: 1})
		if err == nil && r.Verdict == checker.Holds {
			return differ("holds, and a task can block its event loop for ever")
		}
		return nil
	case errors.Is(err, bruteforce.ErrNoSerial):
		c.outcome = "no serial run ends"
		_, err := checker.Check(ctx, c.sc, c.property, checker.Options{Workers: 1})
		if err == nil || !strings.Contains(err.Error(), "no serial run ends") && !strings.Contains(err.Error(), manySerial) {
			return differ("no serial run ends, and lockpick says %v", err)
		}
		return nil
	case err != nil:
		return err
	}
	if c.property == scenarios.Serializable {
		if _, err := checker.Sample(ctx, c.sc, c.property, checker.SampleOptions{Runs: 1}); err != nil && strings.Contains(err.Error(), manySerial) {
			c.outcome = manySerial
			return nil
		}
	}
	c.outcome = c.name + " holds"
	if c.want.Broken {
		c.outcome = c.name + " broken"
	}
	for _, w := range c.inTurns(c.ways()) {
		if err := c.graph(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		if strings.HasSuffix(c.outcome, unboundedStamps) {
			break // no other way comes to an end
		}
	}
	if c.property == scenarios.Starvation {
		return nil
	}
	for _, try := range c.others() {
		if err := try(ctx); err != nil {
			return err
		}
	}
	return nil
}

// graph compares one exploration.
func (c *comparison) graph(ctx context.Context, w way) error {
	w.options.States, w.options.Tried = mostStates, c.tried
	r, err := checker.Check(ctx, c.sc, c.property, w.options)
	if errors.Is(err, checker.ErrNothingToJudge) {
		c.outcome = c.name + " nothing to judge"
		if c.want.Broken {
			return differ("nothing to judge, and %s breaks it", c.want.Schedule)
		}
		return nil
	}
	if err != nil {
		return err
	}
	if r.Verdict == checker.Unknown && strings.Contains(r.Why, alwaysShows) {
		c.outcome = c.name + " " + unboundedStamps
		return nil
	}
	if r.Verdict == checker.Unknown {
		return differ("unknown: %s", r.Why)
	}
	if got := r.Verdict == checker.Broken; got != c.want.Broken {
		return differ("%v, and brute force says broken = %v by %s", r.Verdict, c.want.Broken, c.want.Schedule)
	}
	if !c.want.Broken {
		return nil
	}
	ce := r.Counterexample
	if !ce.Smallest && strings.Contains(r.Why, alwaysShows) {
		c.outcome = c.name + " " + unboundedStamps
		return c.breaks(ce.Schedule)
	}
	if !ce.Smallest {
		return differ("the counterexample %s is not said to be the smallest", ce.Schedule)
	}
	if c.property == scenarios.Starvation {
		return c.cycle(ce)
	}
	if err := c.smallest(ce, c.want.Schedule); err != nil {
		return err
	}
	cost := ce.Cost
	if cost.Faults() != c.want.Faults || cost.Preemptions != c.want.Preemptions || cost.Steps != c.want.Steps {
		return differ("%s costs %+v, and not %d, %d, %d", ce.Schedule, cost, c.want.Faults, c.want.Preemptions, c.want.Steps)
	}
	if c.want.HasOdds && math.Abs(r.Odds-c.want.Odds) > 1e-9 {
		return differ("odds %.17g, and not %.17g", r.Odds, c.want.Odds)
	}
	return nil
}

// smallest compares a counterexample with the smallest.
func (c *comparison) smallest(ce *trace.Counterexample, want sched.Schedule) error {
	if ce.Schedule.String() != want.String() {
		return differ("the smallest counterexample is %s, and not %s", want, ce.Schedule)
	}
	return c.breaks(ce.Schedule)
}

// breaks follows a schedule by brute force: it must break the property with its last choice.
func (c *comparison) breaks(s sched.Schedule) error {
	broken, err := c.want.Follow(s)
	if err == nil && !broken {
		err = differ("%s breaks nothing", s)
	}
	return err
}

// cycle checks a starvation: the way into the cycle is the smallest, the cycle leads round and
// is fair.
func (c *comparison) cycle(ce *trace.Counterexample) error {
	way := ce.Schedule[:len(ce.Schedule)-ce.Cycle]
	if way.String() != c.want.Schedule.String() {
		return differ("the smallest way into a cycle is %s, and not %s", c.want.Schedule, way)
	}
	round, err := c.want.Round(ce.Schedule, ce.Cycle)
	if err == nil && !round {
		err = differ("the last %d choices of %s are no fair cycle in which somebody starves", ce.Cycle, ce.Schedule)
	}
	return err
}

// bounded compares a search with few preemptions.
func (c *comparison) bounded(ctx context.Context) error {
	if c.seed > 0 {
		return c.within(ctx, int(c.seed%3))
	}
	for k := range 3 {
		if err := c.within(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) within(ctx context.Context, k int) error {
	want, broken := c.want.Within(k)
	r, err := checker.Check(ctx, c.sc, c.property, checker.Options{Preemptions: &k, Workers: 1, States: mostStates, Tried: c.tried})
	if errors.Is(err, checker.ErrNothingToJudge) && !broken {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%d preemptions: %w", k, err)
	}
	if r.Verdict == checker.Unknown && !broken && strings.HasSuffix(c.outcome, unboundedStamps) {
		return nil
	}
	if !broken && c.want.Trapped() { // which has no bound
		if r.Verdict != checker.Unknown {
			return differ("%d preemptions: %v, and brute force finds a trap by %s", k, r.Verdict, want)
		}
		return nil
	}
	if got := r.Verdict == checker.Broken; got != broken || r.Verdict == checker.Holds && c.want.Broken {
		return differ("%d preemptions: %v, and brute force says broken = %v by %s", k, r.Verdict, broken, want)
	}
	if broken {
		if err := c.smallest(r.Counterexample, want); err != nil {
			return fmt.Errorf("%d preemptions: %w", k, err)
		}
	}
	return nil
}

// reference compares the reference engine, as far as it comes.
func (c *comparison) reference(ctx context.Context) error {
	budget, every := 60, uint64(20)
	if *protocols > few { // there are enough of them then
		every = 200
	}
	if c.seed%every == 0 {
		budget = 3000
	}
	t, err := search.NewTester(c.sc, c.property)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	t.Tried = c.tried
	runs, first, err := t.SearchAll(ctx, budget, false)
	complete := runs.Complete && !(c.property.NeedsProbe() && (t.Nowhere || t.TooLarge))
	switch {
	case err != nil:
		return fmt.Errorf("reference: %w", err)
	case first == nil && !complete:
		return nil
	case (first != nil) != c.want.Broken:
		return differ("reference: broken = %t after %d schedules, and brute force says broken = %t by %s", first != nil,
			runs.Schedules, c.want.Broken, c.want.Schedule)
	case first == nil:
		return nil
	}
	best, err := t.Shrink(*first)
	if err == nil {
		err = c.breaks(best.Schedule)
	}
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	return nil
}

// samples compares how often drawn schedules hit the violation with the odds.
func (c *comparison) samples(ctx context.Context) error {
	const runs = 60
	strategies := []string{"random", "pct"}
	if c.seed > 0 && *protocols <= few {
		strategies = strategies[c.seed%2:][:1]
	}
	for _, strategy := range strategies {
		s, err := checker.Sample(ctx, c.sc, c.property, checker.SampleOptions{Strategy: strategy, Runs: runs, Seed: c.seed * runs, KeepGoing: true})
		if err != nil {
			return fmt.Errorf("%s: %w", strategy, err)
		}
		switch {
		case s.Failures > 0 && !c.want.Broken:
			return differ("%s: broken by %s, and brute force says it holds", strategy, s.Counterexample.Schedule)
		case s.Failures > 0:
			if err := c.breaks(s.Counterexample.Schedule); err != nil {
				return fmt.Errorf("%s: %w", strategy, err)
			}
		}
		if strategy == "random" && c.want.HasOdds && unlikely(s.Failures, runs, c.want.Odds) {
			return differ("random: %d of %d, and the odds are %.4g", s.Failures, runs, c.want.Odds)
		}
	}
	return nil
}

// unlikely reports whether k of n, each with probability p, is an outcome of a tail below one
// in 10^9.
func unlikely(k, n int, p float64) bool {
	const small = 1e-9
	if p < 1e-12 || p > 1-1e-12 {
		return k != int(math.Round(p))*n
	}
	below, above := 0.0, 0.0
	for i := 0; i <= n; i++ {
		c, _ := math.Lgamma(float64(n + 1))
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		q := math.Exp(c - a - b + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if i <= k {
			below += q
		}
		if i >= k {
			above += q
		}
	}
	return below < small || above < small
}
