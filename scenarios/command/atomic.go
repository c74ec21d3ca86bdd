package command

import (
	"slices"
	"strings"

	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// What is left of the files that commands change, when one is killed, the power is lost or a call fails.

// survives claims what is asked of that, or assumes why it is not.
func (s *Spec) survives(sc *scenarios.Scenario, serial serialRuns) []scenarios.Claim {
	if s.Crashes == 0 && s.PowerLosses == 0 && s.FailingCalls == 0 || s.Left || len(serial.orders) == 0 {
		return nil
	}
	if s.FailingCalls > 0 && len(s.Commands) > 1 {
		assume(sc, "what failing calls leave of a file is asked of one command alone")
		return nil
	}
	a := outcome.NewAtomic(s.outcome(scenarios.NewView(sc.NewMachine())), slices.Concat(serial.orders, serial.reused))
	if names := a.Databases(); len(names) > 0 {
		assume(sc, "what is left of "+strings.Join(names, " and ")+" is not asked: a database is recovered by who reads it next")
	}
	if !a.Changed() {
		assume(sc, "whether a file is as before or as after is not asked: the commands change none that was there at the start")
		return nil
	}
	return claims(s.atomic(sc, a))
}

// atomic is the property that each file that the commands change is whole in the end, however that comes.
func (s *Spec) atomic(sc *scenarios.Scenario, a *outcome.Atomic) *scenarios.Property {
	judge := func(v scenarios.View) string {
		o := s.outcome(v)
		return a.Judge(o, s.succeeded(o))
	}
	return &scenarios.Property{
		ID:         "atomic",
		Meaning:    "When all have ended, been killed or lost the power, each file that the commands change is as before or as serial runs leave it.",
		Reconsider: s.reconsider(sc, func(v scenarios.View) bool { return judge(v) == "" }, a.Add),
		Invariant: func(v scenarios.View) string {
			if v.RunningBut(s.Living) > 0 {
				return ""
			}
			return judge(v)
		},
		Table: func(v scenarios.View) [][]string {
			o := s.outcome(v)
			return a.Table(o, s.succeeded(o))
		},
	}
}

// succeeded are the commands that have reported success although a call may have failed: what they were to do is done.
func (s *Spec) succeeded(o outcome.Outcome) (done []int) {
	for i, e := range o.Exits {
		if s.FailingCalls > 0 && s.PowerLosses == 0 && e == "exit 0" {
			done = append(done, i)
		}
	}
	return done
}
