package cli

import (
	"context"
	"time"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// carryFor bounds how long a counterexample is carried out on the kernel.
const carryFor = time.Minute

// carryOut carries the counterexample of a run of commands out on the real kernel. Where the
// kernel answers otherwise than the fake machine there is no verdict: what was found is true of
// the fake only.
func carryOut(ctx context.Context, spec *command.Spec, r *checker.Result) {
	cx := r.Counterexample
	if cx == nil || len(cx.Trace) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, carryFor)
	defer cancel()
	c := spec.Carry(ctx, carrySteps(cx.Trace), cx.Trace[len(cx.Trace)-1].After)
	cx.Kernel = c.String()
	if c.Differs != "" {
		r.Verdict, r.Complete = checker.Unknown, false
		r.Why = "the schedule breaks it on the fake machine and goes otherwise on this kernel, so one of the two is not as programs see it: nothing is concluded; please report it"
	}
}

// carrySteps are the steps of a trace of commands.
func carrySteps(tr trace.Trace) []command.Step {
	var steps []command.Step
	for _, st := range tr {
		if st.Choice.Action == sched.Kill {
			steps = append(steps, command.Step{Process: st.Choice.Task.Process, Kill: true})
			continue
		}
		for _, c := range st.Calls {
			steps = append(steps, command.Step{Process: st.Choice.Task.Process, By: c.By, Op: c.Op, Result: c.Result})
		}
	}
	return steps
}
