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
		serial.rewritten)
	if names := a.Databases(); len(names) > 0 {
		assume(sc, "database-not-asked",
			"what is left of "+strings.Join(names, " and ")+" is not asked: a database is recovered by who reads "+
				"it next; --read says what that is")
	}
	if s.Crashes > 0 && len(s.Commands) > 1 && s.starts {
		assume(sc, "children-live-on",
			"what a killed command has started lives on, or is killed when the others have ended")
	}
	var asked []*scenarios.Property
	if a.Changed() || s.FailingCalls > 0 && s.PowerLosses == 0 && a.Changes() {
		asked = append(asked, s.left(sc, a, false, &scenarios.Property{
			ID: "atomic", Native: scenarios.RunsWithKills,
			Meaning: "When all have ended, been killed or lost the power, each file that the commands change is as before or " +
				"as serial runs leave it.",
		}, func(o outcome.Outcome) (done []int, judged bool) {
			if s.FailingCalls > 0 && s.PowerLosses == 0 { // who succeeds although a call has failed has done it
				done = succeeded(o)
			}
			return done, true
		}))
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
		asked = append(asked, s.left(sc, a, true, &scenarios.Property{
			ID:      "durable",
			Meaning: "What a command that has exited 0 did to its files is still there when the power was lost.",
		}, func(o outcome.Outcome) ([]int, bool) {
			done := succeeded(o)
			return done, len(done) > 0
		}))
	}
	return claims(asked...)
}

// fewDisks are asked of a reader first at each step: one takes a tenth of a second, and most that is broken shows where
// one file or directory is older than the others.
const fewDisks = 64

// left makes a property of what is left of files in the end. needs says whose changes must be there, and whether
// anything is judged. made: new files are judged as well.
func (s *Spec) left(
	sc *scenarios.Scenario, a *outcome.Atomic, made bool, p *scenarios.Property, needs func(o outcome.Outcome) (done []int,
		judged bool),
) *scenarios.Property {
	judge := func(v scenarios.View) string {
		o := s.found(v)
		done, judged := needs(o)
		if !judged {
			return ""
		}
		return a.Judge(o, done)
	}
	if s.reader != nil {
		p.Disks = fewDisks
	} else {
		p.Judged = func() (paths [][]string) {
			for _, names := range a.Groups(made) {
				for i, name := range names {
					names[i] = s.at(strings.TrimSuffix(name, "/"))
				}
				paths = append(paths, names)
			}
			return paths
		}
	}
	p.Reconsider = s.reconsider(sc, func(v scenarios.View) bool { return judge(v) == "" }, a.Add)
	p.Invariant = func(v scenarios.View) string {
		if v.RunningBut(s.Living) == 0 {
			return judge(v)
		}
		if !s.over(v) {
			return ""
		}
		if said := judge(v); said != "" {
			return said + ", if what it has started is killed with it"
		}
		return ""
	}
	p.Table = func(v scenarios.View) [][]string {
		o := s.found(v)
		done, _ := needs(o)
		return a.Table(o, done)
	}
	return p
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
	return killed
}

// succeeded are the commands that have exited 0.
func succeeded(o outcome.Outcome) (done []int) {
	for i, e := range o.Exits {
		if e == "exit 0" {
			done = append(done, i)
		}
	}
	return done
}
