package edit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// mostCalls bounds the calls of a task that runs alone: who makes more polls for ever.
const mostCalls = 400

// An End is how a task that ran alone ended.
type End uint8

// The ends.
const (
	Ended   End = iota
	Stopped     // it has made as many calls as it was to make
	Waits       // in a call; or it does what is not modelled, or panics at an answer
	Polls       // for ever, in a loop that it has marked
	Spins       // for ever, in one that it has not
)

// RunAlone runs one task while nobody else does anything: to its end, or until it has made so many calls, unless that
// is 0. One that is to stop polls once a marked loop begins for the third time: later rounds stop where earlier ones
// did. note gets what it notes.
func RunAlone(sc *scenarios.Scenario, m *fsfake.Machine, process, n, calls int, note func(v any)) (end End) {
	port := &alone{machine: m, task: fsfake.Task{Pid: scenarios.Pid(process), N: n}, noted: note, calls: calls}
	defer func() {
		if e := recover(); e != nil {
			var known bool
			if end, known = e.(End); !known {
				end = Waits
			}
		}
	}()
	sc.Program(process, n)(sc.Task(port, process, n))
	return Ended
}

// alone is the port of a task that runs alone. It panics with an End where the task goes no further.
type alone struct {
	machine *fsfake.Machine
	task    fsfake.Task
	noted   func(v any)
	calls   int // to make, 0 for all
	made    int
	rounds  int
}

// Do makes one call.
func (a *alone) Do(op fsfake.Op) fsfake.Result {
	if a.made++; a.made > mostCalls && a.rounds > 1 || a.calls > 0 && a.rounds > 2 {
		panic(Polls)
	} else if a.made > mostCalls {
		panic(Spins)
	} else if a.calls > 0 && a.made > a.calls {
		panic(Stopped)
	}
	r := a.machine.Do(a.task, op)
	if r.Blocked || r.Unmodelled != "" {
		panic(Waits)
	}
	return r
}

// Note hands on what the program notes.
func (a *alone) Note(v any) {
	if _, ok := v.(fsfake.RoundTop); ok {
		a.rounds++
	}
	a.noted(v)
}
