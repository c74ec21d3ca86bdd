package cli

import (
	"cmp"
	"context"
	"math"
	"time"

	"lockpick/checker"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// stallSearch is how long shorter stalls are tried. With --timeout it is two thirds of that where other properties are
// still to be decided.
const stallSearch = time.Minute

// A stallRange is which stalls commands survive: those in also and one of survived, and none of broken.
type stallRange struct {
	also             []time.Duration
	survived, broken time.Duration
}

// String says that in a sentence. A stall that was not tried is not spoken of: a shorter one may do more.
func (s stallRange) String() string {
	if s.survived == 0 {
		return "broken by a stall of " + numbers.Time(s.broken) + "; that a shorter one is survived was not found"
	}
	text := "survives a stall of " + numbers.Time(s.survived) + ", and is broken by one of " + numbers.Time(s.broken)
	if s.broken-s.survived > time.Second {
		text += "; those between were not decided"
	}
	for i, d := range s.also {
		text += []string{"; also survives ", ", "}[min(i, 1)] + numbers.Time(d)
	}
	return text
}

// narrow looks for the shortest stall that breaks commands which one of broken breaks. A stall of up to a minute may be
// what an earlier verdict told, so the one that is shorter by a second comes first. A long one is likely to be much
// longer than needed: the next length is the geometric mean of what is survived and what is not. It ends where decide
// does not decide.
func narrow(broken time.Duration, decide func(d time.Duration) checker.Verdict) stallRange {
	s := stallRange{broken: broken}
	between := func() time.Duration {
		mean := time.Duration(math.Sqrt(float64(max(s.survived, time.Second)) * float64(s.broken)))
		return max(mean.Truncate(time.Second), s.survived+time.Second)
	}
	d := broken - time.Second
	if broken > time.Minute {
		d = between()
	}
	for ; s.broken-s.survived > time.Second; d = between() {
		switch decide(d) {
		case checker.Holds:
			if s.survived > 0 {
				s.also = append(s.also, s.survived)
			}
			s.survived = d
		case checker.Broken:
			s.broken = d
		default:
			return s
		}
	}
	return s
}

// survives says which stall commands survive that a stall breaks, as far as was decided; "" where none breaks them, or
// a shorter one cannot be.
func (a *app) survives(ctx context.Context, spec *command.Spec, r *checker.Result, f *runFlags) string {
	long := r.Scenario.Setting.StallFor
	if r.Verdict != checker.Broken || r.Question != nil || r.Counterexample == nil ||
		r.Counterexample.Cost.Stalls == 0 || long <= time.Second || long%time.Second != 0 {
		return ""
	}
	limit := f.timeout
	if f.property == "" {
		limit = f.timeout * 2 / 3
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(limit, stallSearch))
	defer cancel()
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	return narrow(long, func(d time.Duration) checker.Verdict {
		bar.begin(r.Property.ID, "broken by a stall of "+numbers.Time(long)+"; now one of "+numbers.Time(d)+" is tried")
		return stalledFor(ctx, spec, d, r, f.states)
	}).String()
}

// stalledFor decides what is broken where stalls have another length: mostly the same schedule breaks it. It holds
// where it does with no exit status as a refusal, and so with some; what is broken only then is unknown.
func stalledFor(ctx context.Context, spec *command.Spec, d time.Duration, broken *checker.Result,
	states int) checker.Verdict {
	shorter := *spec
	shorter.StallFor = d
	shorter.Within(ctx) // each length has serial runs of its own
	sc, strict, err := shorter.Readings()
	if err != nil {
		return checker.Unknown
	}
	p, err := sc.Property(broken.Property.ID)
	if err != nil {
		return checker.Unknown
	}
	if ran, err := checker.Replay(&sc, p, broken.Counterexample.Schedule); err == nil && ran.Broken {
		return checker.Broken
	}
	check := func(of *scenarios.Scenario) (checker.Result, error) {
		p, err := of.Property(broken.Property.ID)
		if err != nil {
			return checker.Result{}, err
		}
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		return checker.Check(within, of, p, checker.Options{Workers: 1, States: states, SkipOdds: true,
			Found: func(*checker.Result) { cancel() }}) // which one it is does not matter
	}
	if !spec.Refused.Declared {
		if r, err := check(&strict); err != nil {
			return checker.Unknown
		} else if r.Verdict != checker.Broken {
			return r.Verdict
		}
	}
	r, err := check(&sc)
	if err != nil || r.Verdict == checker.Broken && r.Counterexample.Idles() ||
		r.Verdict == checker.Holds && !spec.Refused.Declared {
		return checker.Unknown // it may depend on what an exit status means
	}
	return r.Verdict
}
