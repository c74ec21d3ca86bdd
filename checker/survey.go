package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// Surveyed is what a survey found out about one hazard.
type Surveyed struct {
	Hazard scenarios.Hazard
	// NotAsked says why nothing was asked; empty otherwise.
	NotAsked string
	// On are the file systems on each of which was asked what does not break without, where that is the
	// hazard; a result's scenario says which it is on, unless nobody can tell.
	On []string
	// Broken has the first counterexample of each property that is broken, Unknown what a
	// budget ended, and Holds the rest.
	Broken, Unknown, Holds []Result

	nothing []Result // what gave no evidence
}

// Asks reports whether a property is still asked: it is broken in no situation so far, or by what was accepted.
func (s *Surveyed) Asks(p *scenarios.Property) bool {
	return !slices.ContainsFunc(s.Broken, func(r Result) bool { return r.Property.ID == p.ID && r.Accepted == "" })
}

// Take adds what came of asking a property of a scenario; err is that of [Check]. A call that is not
// modelled gives no verdict, and what else is asked has its own.
func (s *Surveyed) Take(sc *scenarios.Scenario, p *scenarios.Property, r Result, err error) {
	if err != nil {
		r = NewResult(sc, p, nil)
		r.Why = err.Error()
	}
	switch {
	case errors.Is(err, ErrNothingToJudge):
		s.nothing = append(s.nothing, r)
	case s.known(&r):
	case r.Verdict == Broken:
		s.Broken = append(s.Broken, r)
	case r.Verdict == Holds:
		s.Holds = append(s.Holds, r)
	default:
		s.Unknown = append(s.Unknown, r)
	}
}

// Close concludes, when all situations were asked: what gave no evidence on a property in any of them is
// unknown, unless something is broken, which then says why nobody ever acquires or ends.
func (s *Surveyed) Close() {
	for _, r := range s.nothing {
		if len(s.Broken) == 0 && !asked(s.Holds, r.Property) && !asked(s.Unknown, r.Property) {
			s.Unknown = append(s.Unknown, r)
		}
	}
	s.nothing = nil
}

// Verdict is the hazard's: broken when a property is, unknown when nothing was asked or a
// budget ended first.
func (s *Surveyed) Verdict() Verdict {
	switch {
	case len(s.Broken) > 0:
		return Broken
	case len(s.Unknown) > 0 || len(s.Holds) == 0:
		return Unknown
	}
	return Holds
}

// SurveyStates bounds the states of each question of a survey when the options do not.
const SurveyStates = 300_000

// Stopped is said of a hazard when a survey ends before it is decided.
const Stopped = "the survey was stopped before it was decided"

// Survey decides what [scenarios.Survey] asks of one hazard. What gives no evidence on a
// property, in any situation of a hazard of which nothing is broken, is unknown. A property that is broken
// in a small situation is not asked in a larger one of the same hazard. The bound on
// states is [SurveyStates] unless o has one. What ctx ends is unknown, and what comes after it is not asked, because of
// [Stopped].
func Survey(ctx context.Context, study scenarios.Study, o Options) Surveyed {
	if o.States == 0 {
		o.States = SurveyStates
	}
	switch {
	case ctx.Err() != nil && study.NotAsked == "":
		return Surveyed{Hazard: study.Hazard, NotAsked: Stopped}
	case study.On != nil:
		return surveyOn(ctx, study, o)
	}
	return survey(ctx, study, o)
}

func survey(ctx context.Context, study scenarios.Study, o Options) Surveyed {
	s := Surveyed{Hazard: study.Hazard, NotAsked: study.NotAsked}
	for i := range study.Scenarios {
		sc := &study.Scenarios[i]
		o.Tried = &Tried{}
		for _, c := range sc.Claims {
			if !s.Asks(c.Property) {
				continue
			}
			r, err := Check(ctx, sc, c.Property, o)
			if ctx.Err() != nil && r.Verdict != Broken {
				return s.stopped(sc, c.Property)
			}
			r.Accept(o.Accept)
			s.Take(sc, c.Property, r, err)
		}
	}
	s.Close()
	return s
}

// stopped is a survey that ends before a property of a scenario is decided, which is unknown.
func (s *Surveyed) stopped(sc *scenarios.Scenario, p *scenarios.Property) Surveyed {
	r := NewResult(sc, p, nil)
	r.Why = Stopped
	s.Unknown, s.nothing = append(s.Unknown, r), nil
	return *s
}

// surveyOn asks on each of a study's file systems what does not break anyway.
func surveyOn(ctx context.Context, study scenarios.Study, o Options) Surveyed {
	s := Surveyed{Hazard: study.Hazard, On: study.On}
	for i := range study.Scenarios {
		sc := &study.Scenarios[i]
		o.Tried = &Tried{}
		for _, c := range sc.Claims {
			r, err := Check(ctx, sc, c.Property, o)
			if errors.Is(err, ErrNothingToJudge) || err == nil && r.Verdict == Broken && !r.Depends() {
				continue
			}
			if err == nil && ctx.Err() == nil {
				err = s.on(ctx, sc, &r, o)
			}
			switch {
			case ctx.Err() != nil:
				return s.stopped(sc, c.Property)
			case err != nil:
				r = NewResult(sc, c.Property, nil)
				r.Why = err.Error()
				s.Unknown = append(s.Unknown, r)
			}
		}
	}
	// Where somebody never gets in, nobody else has anything that could be judged.
	s.Unknown = slices.DeleteFunc(s.Unknown, func(r Result) bool { return len(s.BrokenOn(r.Scenario.FileSystem())) > 0 })
	if s.Broken == nil && s.Unknown == nil && s.Holds == nil {
		s.NotAsked = "all that is asked breaks on no file system in particular"
	}
	return s
}

// on adds what becomes of a result on each file system, unless it is broken on all.
func (s *Surveyed) on(ctx context.Context, sc *scenarios.Scenario, r *Result, o Options) error {
	all, err := FileSystems(ctx, sc, r, o)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(f OnFileSystem) bool { return f.Verdict != Broken }) {
		return nil
	}
	for _, f := range all {
		is := f.Result
		if is == nil {
			is = r
		}
		is.Accept(o.Accept)
		told := slices.ContainsFunc(s.Broken, func(b Result) bool {
			return b.Property == is.Property && b.Scenario.FileSystem() == is.Scenario.FileSystem()
		})
		switch {
		case f.Verdict == Broken && !told:
			s.Broken = append(s.Broken, *is)
		case f.Verdict == Unknown:
			s.Unknown = append(s.Unknown, *is)
		case f.Verdict == Holds:
			s.Holds = append(s.Holds, *is)
		}
	}
	return nil
}

// BrokenOn lists what is broken on a file system and not on all.
func (s *Surveyed) BrokenOn(name string) []Result {
	return slices.DeleteFunc(slices.Clone(s.Broken), func(r Result) bool { return r.Scenario.FileSystem() != name })
}

// asked reports whether a property is among the results.
func asked(rs []Result, p *scenarios.Property) bool {
	return slices.ContainsFunc(rs, func(r Result) bool { return r.Property.ID == p.ID })
}

// Acceptable reports an error unless each code names a kind of cause that one can accept: a cause that is not known is
// none.
func Acceptable(codes []string) error {
	var ids []string
	for _, k := range trace.Kinds() {
		if k.ID != trace.Unexplained {
			ids = append(ids, k.ID)
		}
	}
	for _, code := range codes {
		if !slices.Contains(ids, code) {
			return fmt.Errorf("%q is no kind of cause that can be accepted: choose %s", code,
				strings.Join(ids, ", "))
		}
	}
	return nil
}

// Accept accepts what is broken, against the claim, by a cause of one of some kinds. Counterexamples of other kinds of
// ends must have such causes, too.
func (r *Result) Accept(codes []string) {
	accepted := func(c *trace.Counterexample) bool { return slices.Contains(codes, c.Code) }
	r.Accepted = ""
	if r.Verdict != Broken || r.Counterexample == nil || r.Claimed && r.Claim == Broken ||
		!accepted(r.Counterexample) || r.Question != nil ||
		slices.ContainsFunc(r.Also, func(c *trace.Counterexample) bool { return !accepted(c) }) {
		return
	}
	r.Accepted = r.Counterexample.Code
}

// AcceptedText says what was accepted, and what was not looked for because of it; empty when nothing was.
// Text, JSON, JUnit, Markdown and the pages of report/site tell it.
func (r *Result) AcceptedText() string {
	k, ok := trace.KindOf(r.Accepted)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%s) is accepted. Whether %s is broken by another cause, too, was not looked for",
		k.ID, k.Name, r.Property)
}

// Failed reports whether something is broken that was not accepted.
func (s *Surveyed) Failed() bool {
	return slices.ContainsFunc(s.Broken, func(r Result) bool { return r.Accepted == "" })
}

// Accepts reports whether a property is broken by what was accepted.
func (s *Surveyed) Accepts(property string) bool {
	return slices.ContainsFunc(s.Broken, func(r Result) bool { return r.Accepted != "" && r.Property.ID == property })
}

// known reports whether there is a counterexample already that was accepted for the same.
func (s *Surveyed) known(r *Result) bool {
	return r.Accepted != "" && slices.ContainsFunc(s.Broken, func(b Result) bool {
		return b.Accepted == r.Accepted && b.Property.ID == r.Property.ID
	})
}
