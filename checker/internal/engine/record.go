package engine

import (
	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/sched"
)

// Preempts reports whether c is a preemption: a switch away from a task that could have
// gone on.
func (w *World) Preempts(c sched.Choice) bool {
	if c.Action != sched.Run || w.last < 0 {
		return false
	}
	l := &w.View.Tasks[w.last]
	return l.Task != c.Task && l.Enabled && !l.Asleep
}

// Record makes the trace's step from what apply did.
func (w *World) Record(c sched.Choice, calls []trace.Call, preempts bool, opsBefore int) trace.Step {
	s := trace.Step{N: w.Steps, Choice: c, Preempts: preempts, After: w.M.Clone()}
	s.Calls = append(s.Calls, calls...)
	if c.Action == sched.Stall {
		s.Passed = w.passed
	}
	if len(w.History.Ops) > opsBefore && c.Action == sched.Run && w.History.Ops[opsBefore].ClientId < len(w.actors) {
		s.Invoked = w.History.Ops[opsBefore].Input
		s.Noted = s.Invoked
	}
	at := int64((w.Steps-1)*trace.TimestampsPerStep + trace.AtReturn)
	for _, op := range w.History.Ops {
		if op.Return == at && c.Action == sched.Run && op.Output != any(model.Pending{}) {
			s.Returned = op.Output
		}
	}
	for _, a := range w.actors {
		for i := range a.holds {
			h := &a.holds[i]
			if h.since == s.N {
				h.object = lockObject(w.M, a.id.Pid, h.Holding)
			}
			s.Holders = append(s.Holders, trace.Holder{Task: a.task, Lock: h.Lock, Path: h.Path, ID: h.object, Since: h.since, Reads: h.Reads})
		}
	}
	s.Exited = len(calls) > 0 && endsProcess(w.sc, calls[len(calls)-1].Op)
	return s
}
