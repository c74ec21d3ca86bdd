package engine

import (
	"cmp"
	"fmt"
	"time"

	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A World is one run of a scenario: the machine, and every task. A live world runs the
// tasks' own Go code as coroutines; one with a memo follows what was learned of it.
type World struct {
	sc      *scenarios.Scenario
	Memo    *learn.Memo // nil: live
	Locates bool        // a live run tells where in the source each call stands
	// Enumerates: the run is one of those with every choice, in every round.
	Enumerates bool
	M          *fsfake.Machine
	actors     []*actor
	History    *history.Recorder
	crashes    int           // left
	stalls     int           // left
	passed     time.Duration // with the last stall
	Losses     int           // of power, left
	fails      int           // calls that may still fail
	signals    int           // left
	last       int           // the actor that stepped last, or -1
	View       sched.View
	Steps      int
	property   *scenarios.Property
	spins      *actor // it goes round over a cell, and blocks its event loop
	changes    int    // answers of operations that are more than a look
	// invariant is asked for: marks must be kept.
	marks bool
	// failed is the first assertion that was not so, and failedBy whose.
	failed   string
	failedBy sched.Task
	observed observer
	Err      error
	// Buffers, kept from run to run.
	Calls     []trace.Call
	Preempted []bool // by step: it was a preemption
}

// An actor is one task of a world.
type actor struct {
	task     sched.Task
	id       fsfake.Task
	index    int
	code     learn.Code // nil: not live, or not begun
	node     uint32     // where it is, when it is not live
	op       fsfake.Op
	begins   learn.Effects // begins with the next call: invoked, letGo
	timed    bool          // a timer runs that ends the next call's wait
	stepped  bool          // it has made its first step
	by       fsfake.Task   // who makes it, when that is not the task itself
	asserted bool          // it has asserted something
	ended    bool          // the program has returned
	gone     bool          // the process has exited or was killed, or the task has not begun
	blocked  bool
	asleep   bool
	sleeps   bool // it has slept
	idle     bool
	keeps    bool // it is idle although a sleeper was kept from going on
	// rounds are the retry loops that it is in, the innermost last; top is how things stood
	// at the top of the round begun last.
	rounds []round
	top    situation
	chosen int    // bits of choices of its own, so far
	holds  []hold // in the order of their locks
	family scenarios.Family
	held   []string // the paths of the locks that it has held so far, sorted
}

// NewWorld starts a live run, every task up to its first call. Stop must be called in
// the end.
func NewWorld(sc *scenarios.Scenario, p *scenarios.Property, m *fsfake.Machine) *World {
	w := EmptyWorld(sc, p)
	w.Start(m)
	return w
}

// EmptyWorld returns a run that has not begun.
func EmptyWorld(sc *scenarios.Scenario, p *scenarios.Property) *World {
	w := &World{sc: sc, property: p, marks: p.Invariant != nil}
	for i, n := range sc.Setting.EachTask() {
		w.actors = append(w.actors, &actor{
			task: sched.Task{Process: i, N: n}, index: len(w.actors),
			id: fsfake.Task{Pid: scenarios.Pid(i), N: n},
		})
	}
	w.History = history.NewRecorder(len(w.actors) + sc.Setting.Processes)
	w.View.Tasks = make([]sched.TaskView, len(w.actors))
	return w
}

// Start begins a run on m, which must be the world's own.
func (w *World) Start(m *fsfake.Machine) {
	w.M, w.last, w.Steps, w.changes, w.Err = m, -1, 0, 0, nil
	w.failed, w.spins = "", nil
	w.crashes, w.stalls, w.Losses = w.sc.Setting.Crashes, w.sc.Setting.Stalls, w.sc.Setting.PowerLosses
	w.fails, w.signals = w.sc.Setting.FailingCalls, w.sc.Setting.Signals
	w.History.Reset()
	w.Preempted = w.Preempted[:0]
	for _, a := range w.actors {
		if w.sc.Setting.AfterReboot(a.task.Process) || !w.sc.Setting.RunsAtFirst(a.task.Process, a.task.N) {
			*a = actor{task: a.task, id: a.id, index: a.index, gone: true}
		} else {
			w.begin(a)
		}
	}
}

// begin starts a task.
func (w *World) begin(a *actor) {
	*a = actor{task: a.task, id: a.id, index: a.index}
	if w.Memo != nil {
		at, e := w.Memo.Start(a.index)
		a.node, a.op, a.ended = at.Node, at.Op, at.Ended
		w.settle(a, e)
		return
	}
	var err error
	if a.code, err = learn.Functions(w.sc)(a.task.Process, a.task.N); err != nil {
		w.Err = cmp.Or(w.Err, err)
		return
	}
	if l, ok := a.code.(learn.Located); ok && w.Locates {
		l.Locate()
	}
	w.resume(a)
}

// source is where the task's next call stands, in a run that tells it.
func (w *World) source(a *actor) scenarios.Source {
	if l, ok := a.code.(learn.Located); ok && w.Locates && !endsProcess(w.sc, a.op) {
		return l.Source()
	}
	return scenarios.Source{}
}

// Stop unwinds every live task.
func (w *World) Stop() {
	for _, a := range w.actors {
		if a.code != nil {
			a.code.Stop()
		}
	}
}

// fail remembers the first harness error, which ends the run.
func (w *World) fail(format string, args ...any) {
	if w.Err == nil {
		w.Err = fmt.Errorf("checker: "+format, args...)
	}
}

// proceed gives a task the result of its call and applies what it does until its next.
func (w *World) proceed(a *actor, r *fsfake.Result) {
	a.family = a.family.After(&a.op, r)
	if w.Memo == nil {
		if err := a.code.Answer(*r); err != nil {
			w.Err = cmp.Or(w.Err, err)
			return
		}
		w.resume(a)
		return
	}
	at, e, err := w.Memo.Proceed(a.index, a.node, r)
	if err != nil {
		w.Err = cmp.Or(w.Err, err)
		return
	}
	a.node, a.op, a.ended = at.Node, at.Op, at.Ended
	w.settle(a, e)
}

// resume runs a live task until its next call.
func (w *World) resume(a *actor) {
	op, more, notes, err := a.code.Next()
	if err != nil {
		w.Err = cmp.Or(w.Err, err)
		return
	}
	a.op, a.ended = op, !more
	e, err := learn.Digest(a.task.String(), notes)
	if err != nil {
		w.fail("%w", err)
		return
	}
	w.settle(a, e)
}

// settle applies what a task did between two calls.
func (w *World) settle(a *actor, e learn.Effects) {
	w.observed.effects(&e)
	if e.Returned {
		if w.History.Open[a.index] < 0 {
			w.fail("%s: an operation returned %v that was never invoked", a.task, e.Output)
			return
		}
		if input := w.History.Ops[w.History.Open[a.index]].Input; !tells(input, e.Output) {
			w.changes++
		}
		w.History.Return(a.index, w.Steps, e.Output)
	}
	if e.Holds {
		w.hold(a, e.Holding)
	}
	a.asserted = a.asserted || e.Asserts
	if a.stepped {
		w.assertion(a, &e)
	}
	w.turnRound(a, &e)
	if a.ended && e.Invoked {
		w.fail("%s: operation %v made no call: every recorded operation needs at least one", a.task, e.Input)
	}
	a.begins, a.by, a.timed = e, e.By, e.Seen.Has(scenarios.TimedWait)
}

// who makes the task's next call.
func (a *actor) who() fsfake.Task {
	if a.by != (fsfake.Task{}) {
		return a.by
	}
	return a.id
}

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
			s.Holders = append(s.Holders, trace.Holder{Task: a.task, Lock: h.Lock, Path: h.Path, ID: h.object,
				Since: h.since, Reads: h.Reads})
		}
	}
	s.Exited = len(calls) > 0 && endsProcess(w.sc, calls[len(calls)-1].Op)
	return s
}
