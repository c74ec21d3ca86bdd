package discipline

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A NotProved says why there is no proof.
type NotProved struct{ Why string }

// Error implements error.
func (e NotProved) Error() string { return e.Why }

func notProved(format string, args ...any) error { return NotProved{fmt.Sprintf(format, args...)} }

// maxCalls bounds a run of a copy: one that polls for what never comes has no end.
const maxCalls = 20_000

// A call of a run: who has made it, what was answered, and the machine before and after.
type call struct {
	by            fsfake.Task
	op            fsfake.Op
	result        fsfake.Result
	timer         bool // one of the program was running
	before, after *fsfake.Machine
}

// A runner runs copies alone.
type runner struct {
	ctx    context.Context
	sc     *scenarios.Scenario
	start  learn.Starter
	first  *fsfake.Machine // at the start
	timers bool            // a timer was running beside some call
	// commands has the processes of each command.
	commands [][]int
}

// commandsOf lists the processes of each command.
func commandsOf(sc *scenarios.Scenario) [][]int {
	of := make([][]int, sc.Setting.Processes)
	for i := range of {
		first := 0
		if sc.Same != nil {
			first = sc.Same(i)
		}
		of[first] = append(of[first], i)
	}
	return slices.DeleteFunc(of, func(all []int) bool { return len(all) == 0 })
}

// command is the number of what a process runs.
func (x *runner) command(process int) int {
	return slices.IndexFunc(x.commands, func(all []int) bool { return slices.Contains(all, process) })
}

func newRunner(ctx context.Context, sc *scenarios.Scenario) (*runner, error) {
	m, err := sc.Start()
	if err != nil {
		return nil, err
	}
	return &runner{ctx: ctx, sc: sc, start: learn.Functions(sc), first: m, commands: commandsOf(sc)}, nil
}

// anew is a machine with the files that a run has left, on which all processes are yet to begin.
func (x *runner) anew(m *fsfake.Machine) (*fsfake.Machine, error) {
	next, err := m.Anew(x.first)
	if err != nil {
		return nil, notProved("a copy leaves behind that %v", err)
	}
	return next, nil
}

// run runs a copy. answer may answer a call, or make one itself; it returns nil where the machine is to answer.
func (x *runner) run(process int, m *fsfake.Machine, answer func(m *fsfake.Machine, c *call) (*fsfake.Result, error)) (
	calls []call, err error) {
	code, err := x.start(process, 1)
	if err != nil {
		return nil, err
	}
	defer code.Stop()
	m = m.Clone()
	err = learn.Follow(code, nil, func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error) {
		e, err := learn.Digest("a copy", notes)
		if err != nil || !more {
			return nil, err
		}
		c := call{by: fsfake.Task{Pid: scenarios.Pid(process), N: 1}, op: *op,
			timer: e.Seen.Has(scenarios.TimersLast), before: m.Clone()}
		if e.By != (fsfake.Task{}) {
			c.by = e.By
		}
		if err := x.refused(&c, &e, process); err != nil || len(calls) == maxCalls {
			return nil, errors.Join(err, x.ctx.Err(), notProvedIf(err == nil, "a copy alone makes more than %d calls",
				maxCalls))
		}
		r, err := (*fsfake.Result)(nil), error(nil)
		if answer != nil {
			r, err = answer(m, &c)
		}
		if r == nil && err == nil {
			is := m.Do(c.by, *op)
			r = &is
		}
		if err != nil || r.Blocked || r.Unmodelled != "" {
			return nil, errors.Join(err, notProvedIf(err == nil, "a copy alone waits: %s", op))
		}
		c.result, c.after = *r, m.Clone()
		calls = append(calls, c)
		return r, x.ctx.Err()
	})
	return calls, err
}

func notProvedIf(is bool, format string, args ...any) error {
	if is {
		return notProved(format, args...)
	}
	return nil
}

// refused says why a call has no part in a proof: its answer hangs on other processes or on time, or the program has
// several ways to go.
func (x *runner) refused(c *call, e *learn.Effects, process int) error {
	switch op := c.op; {
	case op.Ways() > 1 || e.Seen.Has(scenarios.OneOrder):
		return notProved("threads or processes of one copy make calls at the same time: %s", op)
	case e.Seen.Has(scenarios.TimedWait):
		return notProved("a copy waits for a lock with a timeout: %s", op)
	case e.Seen.Has(scenarios.Mapped):
		return notProved("a copy maps a file: %s", op)
	case op.Call == fsfake.CallKill:
		if p, child := scenarios.StartedBy(op.Pid); op.Pid != scenarios.Pid(process) && (!child || p != process) {
			return notProved("a copy asks about another process: %s", op)
		}
	case op.Call.Is(fsfake.Asks), op.Call.IsCell(), op.Call == fsfake.CallStart:
		return notProved("a copy asks about other processes or the clock: %s", op)
	}
	return nil
}
