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

// end has a port do what it has to do when its program has ended.
func end(p fsfake.Port) {
	if e, ok := p.(interface{ end() }); ok {
		e.end()
	}
}

// Through returns the scenario with a change in every program and in the probe.
func Through(sc scenarios.Scenario, c Change) scenarios.Scenario {
	program, probe := sc.Program, sc.Probe
	under := func(t *scenarios.Task) (changed *scenarios.Task, port fsfake.Port) {
		u := *t
		u.Proc = t.Proc.Through(func(p fsfake.Port) fsfake.Port {
			port = c(t, p)
			return port
		})
		return &u, port
	}
	sc.Subject = nil
	sc.Program = func(process, task int) scenarios.Program {
		run := program(process, task)
		return func(t *scenarios.Task) {
			u, port := under(t)
			run(u)
			end(port)
		}
	}
	if probe != nil {
		sc.Probe = func(t *scenarios.Task) error {
			u, port := under(t)
			if b, ok := port.(interface{ begin() }); ok { // no operation is recorded of a probe
				b.begin()
			}
			defer end(port)
			return probe(u)
		}
	}
	return sc
}

// Work is the step that is made in the place of a call left out, so that operations keep their intervals.
var Work = fsfake.Op{Call: fsfake.CallWork}
