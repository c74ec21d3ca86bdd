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
	// changes are what copies change, on which it hangs which orders of their own calls come to the same.
	changes fsfake.Footprint
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

// run runs a copy from a machine on. Where its own processes make calls at the same time it goes the ways of r, and
// then the first that are open, which r has then. met, unless nil, has the states in which was chosen before: there it
// is cut off. answer may answer a call, or make one itself; it returns nil where the machine is to answer.
func (x *runner) run(r *serial, m *fsfake.Machine, met map[string]bool,
	answer func(m *fsfake.Machine, c *call) (*fsfake.Result, error)) (calls []call, err error) {
	code, err := x.start(r.process, 1)
	if err != nil {
		return nil, err
	}
	defer code.Stop()
	m = m.Clone()
	chosen, state, here := 0, func() string { return "" }, map[string]bool{}
	err = learn.Follow(code, nil, func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error) {
		for _, v := range notes {
			if is, ok := v.(scenarios.Remembers); ok {
				state = is.State
			}
		}
		e, err := learn.Digest("a copy", notes)
		if err != nil || !more {
			return nil, err
		}
		c := call{by: fsfake.Task{Pid: scenarios.Pid(r.process), N: 1}, op: *op,
			timer: e.Seen.Has(scenarios.TimersLast), before: m.Clone()}
		if e.By != (fsfake.Task{}) {
			c.by = e.By
		}
		if err := x.refused(&c, &e, r.process); err != nil || len(calls) == maxCalls {
			return nil, errors.Join(err, x.ctx.Err(), notProvedIf(err == nil, "a copy alone makes more than %d calls",
				maxCalls))
		}
		if op.Ways() > 1 {
			is := state()
			if is != "" {
				is += string(m.AppendKey(nil))
			}
			switch {
			case here[is]:
				return nil, notProved("processes of one copy may go round for ever: %s", op)
			case is != "":
				here[is] = true
			}
			if chosen == len(r.ways) {
				if r.cut = met[is]; r.cut {
					return nil, nil
				}
				if met != nil && is != "" {
					met[is] = true
				}
				if err := x.choose(r, m, op); err != nil {
					return nil, err
				}
			}
			c.op = op.Way(r.ways[chosen].Which)
			chosen++
		}
		a, err := (*fsfake.Result)(nil), error(nil)
		if answer != nil {
			a, err = answer(m, &c)
		}
		if a == nil && err == nil {
			is := m.Do(c.by, c.op)
			a = &is
		}
		if err != nil || a.Blocked || a.Unmodelled != "" {
			return nil, errors.Join(err, notProvedIf(err == nil, "a copy alone waits: %s", op))
		}
		c.result, c.after = *a, m.Clone()
		x.changes.Note(c.op, c.before, c.after)
		calls = append(calls, c)
		return a, x.ctx.Err()
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
	case e.Seen.Has(scenarios.OneOrder):
		return notProved("one order of what a copy itself does at the same time is followed: %s", op)
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
