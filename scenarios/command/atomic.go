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
		assume(sc, "failing-calls-of-one", "what failing calls leave of a file is asked of one command alone")
		return nil
	}
	if s.PowerLosses > 0 {
		assume(sc, "power-loss-leaves",
			"a loss of power leaves what "+scenarios.DiskOf(&sc.Setting).String()+" allows (docs/power.md), and "+
				"tears no block of 4096 bytes")
	}
	a := outcome.NewAtomic(s.found(scenarios.NewView(sc.NewMachine())), slices.Concat(serial.orders, serial.reused),
		serial.passage)
	if names := a.Databases(); len(names) > 0 {
		assume(sc, "database-not-asked",
			"what is left of "+strings.Join(names, " and ")+" is not asked: a database is recovered by who reads "+
				"it next; --read says what that is")
	}
	if s.Crashes > 0 && s.Kill == scenarios.KillFirst && len(s.Commands) > 1 && s.starts {
		assume(sc, "children-live-on",
			"what a killed command has started lives on, or is killed when the others have ended")
	}
	l := outcome.Look{
		Of: s.found, Path: s.at, Over: s.isOver, Failing: s.FailingCalls > 0 && s.PowerLosses == 0,
	}
	var asked []*scenarios.Property
	if a.Changed() || l.Failing && a.Changes() {
		p := s.left(sc, a, scenarios.Atomic, l)
		p.Native = scenarios.RunsWithKills
		asked = append(asked, p)
	} else {
		assume(sc, "atomic-not-asked",
			"whether a file is as before or as after is not asked: the commands write none that was there at the "+
				"start")
	}
	switch {
	case s.PowerLosses > 0 && len(s.Commands) > 1:
		assume(sc, "durable-not-asked",
			"whether what a command has done outlives a loss of power is asked of one command alone")
	case s.PowerLosses > 0 && a.Changes():
		asked = append(asked, s.left(sc, a, scenarios.Durable, l))
	}
	return claims(asked...)
}

// fewDisks are asked of a reader first at each step: one takes a tenth of a second, and most that is broken shows where
// one file or directory is older than the others.
const fewDisks = 64

// left makes a property of what is left of files in the end.
func (s *Spec) left(
	sc *scenarios.Scenario, a *outcome.Atomic, like *scenarios.Property, l outcome.Look,
) *scenarios.Property {
	p := a.Ask(like, l)
	if s.reader != nil {
		p.Disks, p.Judged = fewDisks, nil
		judge := p.Invariant
		p.Invariant = func(v scenarios.View) string {
			said := judge(v)
			if said != "" && s.reader.look(v) == nil {
				return "" // nobody knows what it would find, so that nothing holds, but nothing is lost either
			}
			return said
		}
	}
	p.Reconsider = s.reconsider(sc, func(v scenarios.View) bool { return p.Invariant(v) == "" }, a.Add)
	return p
}

// isOver reports whether a state is judged: all have ended, or nothing goes on but what killed commands have started.
func (s *Spec) isOver(v scenarios.View) (but string, over bool) {
	if v.RunningBut(s.Living) == 0 {
		return "", true
	}
	return ", if what it has started is killed with it", s.over(v)
}

// over reports whether nothing goes on but what killed commands have started. Mostly that is killed with them: by the
// terminal, a service manager, a container.
func (s *Spec) over(v scenarios.View) bool {
	killed := false
	for i := range s.Commands {
		_, ended := v.Exit(scenarios.ProcessName(i))
		if !ended && v.Alive(scenarios.ProcessName(i)) {
			return false
		}
		killed = killed || !ended
	}
	return killed && s.Kill == scenarios.KillFirst
}
