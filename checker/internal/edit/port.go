package edit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A Change makes what stands between a task and its port.
type Change func(t *scenarios.Task, port fsfake.Port) fsfake.Port

// Calls is a port whose calls are made by Make.
type Calls struct {
	fsfake.Port
	Make func(fsfake.Op) fsfake.Result
}

// Do makes one call.
func (c Calls) Do(op fsfake.Op) fsfake.Result { return c.Make(op) }

// ender is a port that has something to do when its program has ended.
type ender interface{ end() }

// Through returns the scenario with a change in every program and in the probe.
func Through(sc scenarios.Scenario, c Change) scenarios.Scenario {
	program, probe := sc.Program, sc.Probe
	under := func(t *scenarios.Task) (changed *scenarios.Task, end func()) {
		u := *t
		var port fsfake.Port
		u.Proc = t.Proc.Through(func(p fsfake.Port) fsfake.Port {
			port = c(t, p)
			return port
		})
		return &u, func() {
			if e, ok := port.(ender); ok {
				e.end()
			}
		}
	}
	sc.Subject = nil
	sc.Program = func(process, task int) scenarios.Program {
		run := program(process, task)
		return func(t *scenarios.Task) {
			u, end := under(t)
			run(u)
			end()
		}
	}
	if probe != nil {
		sc.Probe = func(t *scenarios.Task) error {
			u, end := under(t)
			defer end()
			return probe(u)
		}
	}
	return sc
}

// Work is the step that is made in the place of a call left out, so that operations keep their intervals.
var Work = fsfake.Op{Call: fsfake.CallWork}
