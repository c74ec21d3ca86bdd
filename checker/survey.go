package checker

import (
	"context"
	"errors"
	"slices"

	"lockpick/scenarios"
)

// Surveyed is what a survey found out about one hazard.
type Surveyed struct {
	Hazard scenarios.Hazard
	// NotAsked says why nothing was asked; empty otherwise.
	NotAsked string
	// Broken has the first counterexample of each property that is broken, Unknown what a
	// budget ended, and Holds the rest.
	Broken, Unknown, Holds []Result
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

// Survey decides what [scenarios.Survey] asks, hazard by hazard. What gives no evidence on a
// property, in any situation of a hazard of which nothing is broken, is unknown. A property that is broken
// in a small situation is not asked in a larger one of the same hazard. The bound on
// states is [SurveyStates] unless o has one.
func Survey(ctx context.Context, studies []scenarios.Study, o Options) ([]Surveyed, error) {
	if o.States == 0 {
		o.States = SurveyStates
	}
	var out []Surveyed
	for _, study := range studies {
		s, err := survey(ctx, study, o)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func survey(ctx context.Context, study scenarios.Study, o Options) (Surveyed, error) {
	s := Surveyed{Hazard: study.Hazard, NotAsked: study.NotAsked}
	var nothing []Result
	for i := range study.Scenarios {
		sc := &study.Scenarios[i]
		o.Tried = &Tried{}
		for _, c := range sc.Claims {
			if asked(s.Broken, c.Property) {
				continue
			}
			r, err := Check(ctx, sc, c.Property, o)
			switch {
			case errors.Is(err, ErrNothingToJudge):
				r = NewResult(sc, c.Property, nil)
				r.Why = err.Error()
				nothing = append(nothing, r)
				continue
			case ctx.Err() != nil:
				return s, ctx.Err()
			case err != nil: // a call that is not modelled: no verdict, and the other hazards have theirs
				r = NewResult(sc, c.Property, nil)
				r.Why = err.Error()
			}
			switch r.Verdict {
			case Broken:
				s.Broken = append(s.Broken, r)
			case Holds:
				s.Holds = append(s.Holds, r)
			default:
				s.Unknown = append(s.Unknown, r)
			}
		}
	}
	for _, r := range nothing {
		// Nobody ever acquires, or nobody ever ends: what is broken says why, or nothing does.
		if len(s.Broken) == 0 && !asked(s.Holds, r.Property) && !asked(s.Unknown, r.Property) {
			s.Unknown = append(s.Unknown, r)
		}
	}
	return s, nil
}

// asked reports whether a property is among the results.
func asked(rs []Result, p *scenarios.Property) bool {
	return slices.ContainsFunc(rs, func(r Result) bool { return r.Property == p })
}
