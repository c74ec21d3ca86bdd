package learn

import (
	"fmt"
	"slices"
	"sync/atomic"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Code is one run of one task's program, up to wherever it has come. It is all that
// learning and live runs know of a program, so that a program need not be a Go function.
//
// Next and Answer take turns: Next runs the program to its next call, Answer gives it that
// call's result. Whoever starts a Code must call Stop in the end.
type Code interface {
	// Next runs the program to its next call. more is false when the program has ended,
	// and op means nothing then. notes are what the program noted since its last call
	// (scenarios.Invoked and the like); they are valid until Next is called again. The
	// error is a fault of the program or of what runs it, never the answer to a call.
	Next() (op fsfake.Op, more bool, notes []any, err error)
	// Answer gives the program the result of the call that it waits in. It takes effect
	// with the next Next.
	Answer(r fsfake.Result) error
	// Stop ends the program wherever it is, and makes no further call of it. Stopping
	// twice, or a program that has ended, does nothing.
	Stop()
}

// A Starter starts programs: that of task n (from 1) of process i (from 0), from its
// beginning.
type Starter func(process, n int) (Code, error)

// Functions starts a scenario's programs as they are written: as Go functions.
func Functions(sc *scenarios.Scenario) Starter {
	faults := &faults{}
	asserts := slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Property.Assertions })
	return func(process, n int) (Code, error) {
		program := sc.Program(process, n)
		var f *function
		f = newFunction(func(port fsfake.Port) {
			t := sc.Task(port, process, n)
			t.Learning = f.learning
			program(t)
		})
		f.task, f.of = sched.Task{Process: process, N: n}, sc.ID
		f.faults, f.asserts = faults, asserts
		f.watched(sc.Watchdog)
		return f, nil
	}
}

// Probe runs the probe of a scenario as a Code, on the port that it is given.
func Probe(sc *scenarios.Scenario, body func(port fsfake.Port)) Code {
	f := newFunction(body)
	f.of = sc.ID
	f.watched(sc.Watchdog)
	return f
}

// newFunction runs a Go function as a Code: a coroutine that stops at each call that it
// makes through its port. A panic of the function comes out of Next, as its error; that of a
// scenario that claims something of assertions is one that fails, and the program ends there.
func newFunction(body func(port fsfake.Port)) *function {
	f := &function{faults: &faults{}}
	f.co = sched.Go(func(ask func(struct{}) struct{}) {
		f.ask = ask
		defer f.caught()
		grow(0)
		body(f)
	})
	f.co.Own = f.own
	return f
}

// grow gives a goroutine that has just begun a stack that is large enough for most programs. Else it is copied again
// and again as calls go deeper, which took a sixteenth of the time.
//
//go:noinline
func grow(at int) byte {
	var room [6 << 10]byte
	return room[at]
}

// A function is a Code, and its body's port.
type function struct {
	// A call and its answer are large, so they lie here and do not cross over.
	co     *sched.Coroutine[struct{}, struct{}]
	ask    func(struct{}) struct{}
	answer fsfake.Result
	told   *fsfake.Result // the answer that the program gets: answer, or one that lies elsewhere
	notes  []any
	// guide answers the program's calls where they are made; nil where the caller of Next does.
	// lost is what it found, broke what it panicked with.
	guide guide
	lost  error
	broke any
	// locates: source is kept. noted is what the program says itself of its next call.
	locates       bool
	source, noted scenarios.Source
	// task and of are whose program it is, see name; last is the call it made last, and panicked how it failed.
	task     sched.Task
	of       string
	last     fsfake.Op
	panicked error
	// asserts: a panic is an assertion that fails, since the scenario claims something of them.
	asserts  bool
	watchdog scenarios.Watchdog
	run      *scenarios.WatchedRun // nil without a watchdog
	learning *scenarios.Learning   // nil unless the run is one by which an automaton learns
	says     scenarios.Remembers
	// state is whose turn it is; identify: the next call says whether it comes from the
	// program's own goroutine, and abandoned: it did not, or the program cannot be unwound.
	state               atomic.Int32
	identify, abandoned bool
	faults              *faults
}

// name says whose program it is: seldom, for errors and the watchdog.
func (f *function) name() string {
	switch {
	case f.of == "":
		return "a task"
	case f.task == sched.Task{}:
		return "the probe of " + f.of
	}
	return fmt.Sprintf("task %s of %s", f.task, f.of)
}

// Next implements [Code].
func (f *function) Next() (op fsfake.Op, more bool, notes []any, err error) {
	if more, err = f.turn(); more {
		op = f.last
	}
	return op, more, f.notes, err
}

// turn runs the program to its next call, which is last then.
func (f *function) turn() (more bool, err error) {
	defer func() {
		f.leave()
		switch e := recover().(type) {
		case nil:
		case scenarios.Fault:
			err = e.Err
		default:
			if err = f.panicked; err == nil {
				panic(e)
			}
		}
	}()
	f.notes = f.notes[:0]
	f.enter()
	f.state.Store(running)
	_, more = f.co.Next()
	f.state.Store(waiting)
	return more, f.faults.seen()
}

// Answer implements [Code].
func (f *function) Answer(r fsfake.Result) error {
	f.answer = r
	f.told = &f.answer
	return nil
}

// Stop implements [Code].
func (f *function) Stop() {
	if f.abandoned {
		return
	}
	f.enter()
	f.state.Store(stopping)
	if f.abandoned = !f.co.Stop(); f.abandoned {
		f.faults.add(fmt.Errorf("checker: the program of %s cannot be stopped: it recovers from every panic, in a loop, and makes %q again and again; let it recover from its own panics only, around code that makes no call", f.name(), f.last))
	}
	if f.run != nil {
		f.watchdog.End(f.run)
		f.run = nil
	}
}

// watched lets a watchdog watch the run.
func (f *function) watched(w scenarios.Watchdog) {
	if w != nil {
		f.watchdog, f.run = w, &scenarios.WatchedRun{Who: f.name()}
		w.Begin(f.run)
	}
}

// enter notes that code begins to run, leave that it has come back.
func (f *function) enter() {
	if f.run != nil {
		f.run.Last = f.last
		f.run.Turns.Add(1)
	}
}

func (f *function) leave() {
	if f.run != nil {
		f.run.Turns.Add(1)
	}
}

// again is leave and enter: code came back, and goes on.
func (f *function) again() {
	if f.run != nil {
		f.run.Last = f.last
		f.run.Turns.Add(2)
	}
}

// Do implements [fsfake.Port].
func (f *function) Do(op fsfake.Op) fsfake.Result {
	if !f.state.CompareAndSwap(running, waiting) {
		f.outOfTurn(op)
	} else if f.identify && !isOwn() {
		f.faults.add(f.foreign(op))
		f.abandoned = true // its own goroutine stands elsewhere, and cannot be unwound
	}
	f.identify = false
	if f.locates || f.noted != (scenarios.Source{}) {
		f.locate()
	}
	f.last = op
	if f.guide == nil || !f.guided() {
		f.ask(struct{}{})
	}
	return *f.told
}

// Note implements [fsfake.Port].
func (f *function) Note(v any) {
	if at, ok := v.(scenarios.At); ok {
		f.noted = at.Source
		return
	}
	if top, ok := v.(fsfake.RoundTop); ok && !top.First && slices.Contains(f.notes, v) {
		panic(scenarios.Fault{Err: fmt.Errorf("checker: %s: its retry loop%s goes round without a call, so nothing can ever end it: let each round make a call, such as t.Sleep, or leave the loop", f.name(), placeText(caller()))})
	}
	if m, ok := v.(scenarios.Remembers); ok {
		f.says = m
		return
	}
	f.notes = append(f.notes, v)
}

// remembers says what the program remembers, or nothing.
func (f *function) remembers() string { return said(f.says.Memory) }

func said(f func() string) string {
	if f == nil {
		return ""
	}
	return f()
}
