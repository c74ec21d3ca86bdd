package command

import (
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Programs take long to start, and come to their first call by themselves. So what the serial runs
// need in any case is started at once, side by side: each command on the fake machine, and each that is
// not like an earlier one on the kernel. Where a command that has run changes what is there, the others
// will do something else after it, and each is started once more.

// An early has what was started and not been asked for yet. A nil one has nothing.
type early struct {
	spec     *Spec
	runs     []*tracer.Run // by process
	started  []int         // by process: how many were
	carriers []*carrier
	again    bool // each is started once more when it was taken
}

// startEarly starts all. What cannot be started is left to whoever asks for it, who finds out why.
func (s *Spec) startEarly() *early {
	n := len(s.Commands)
	e := &early{spec: s, runs: make([]*tracer.Run, n), started: make([]int, n), carriers: make([]*carrier, n)}
	for i := range s.Commands {
		if s.Commands[i].Func != nil {
			continue
		}
		if s.record.begin(s.start(i), false) == nil {
			e.start(i)
		}
		if s.hasEarlier(i) {
			continue
		}
		c := &carrier{spec: s}
		takesPart := make([]bool, n)
		takesPart[i] = true
		if err := c.begin(takesPart); err != nil {
			c.close()
			continue
		}
		e.carriers[i] = c
	}
	return e
}

// start starts a command once more, at most as often as it has a place in the serial orders of all.
func (e *early) start(process int) {
	if e.runs[process] == nil && e.started[process] < len(e.runs) {
		e.started[process]++
		e.runs[process], _ = tracer.Start(e.spec.config(process))
	}
}

// startAgain starts each command once more, now and whenever it was taken.
func (e *early) startAgain() {
	e.again = true
	for i := range e.runs {
		if e.started[i] > 0 {
			e.start(i)
		}
	}
}

// take returns an execution of a command that has been told nothing, under the pid of its process, or
// nil.
func (e *early) take(process, pid int) (run *tracer.Run) {
	if e != nil && pid == scenarios.Pid(process) {
		run, e.runs[process] = e.runs[process], nil
		if e.again {
			e.start(process)
		}
	}
	return run
}

// carrier returns what carries out a serial run on the kernel.
func (e *early) carrier(s *Spec, process int) (c *carrier) {
	if e != nil {
		c, e.carriers[process] = e.carriers[process], nil
	}
	if c == nil {
		c = &carrier{spec: s}
	}
	return c
}

// close ends what nobody has asked for.
func (e *early) close() {
	for _, r := range e.runs {
		if r != nil {
			r.Stop()
		}
	}
	for _, c := range e.carriers {
		if c != nil {
			c.close()
		}
	}
}
