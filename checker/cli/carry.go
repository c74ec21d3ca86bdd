package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios"
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
	c := spec.Carry(ctx, carrySteps(cx.Trace), cx.Trace[len(cx.Trace)-1].After, true)
	cx.Kernel, cx.Stderr = c.String(), c.Stderr
	locate(cx.Trace, c.Sources)
	if c.Differs == "" {
		return
	}
	r.Verdict, r.Complete = checker.Unknown, false
	r.Why = "the schedule breaks it on the fake machine and goes otherwise on this kernel, so one of the two is not as programs see it: nothing is concluded; please report it"
	if c.Maps {
		r.Why = "a command maps a file, and what others write to the file later it sees on this kernel and not on the fake machine: nothing is concluded; have it read the file instead"
	}
}

// watchChanges makes the files that the timeline shows those that change in the counterexample
// or are locked: which they are is not known before.
func watchChanges(r *checker.Result) {
	const most = 3
	if r.Counterexample == nil {
		return
	}
	sc := *r.Scenario
	sc.Watch = nil
	var watch []string
	note := func(p string) {
		if p != "" && len(watch) < most && !slices.Contains(watch, p) {
			watch = append(watch, p)
		}
	}
	walk := trace.NewWalk(&sc, r.Counterexample.Trace)
	for i := range walk.Steps {
		st := &walk.Steps[i]
		for _, c := range st.Changes {
			note(c.Path)
		}
		for k, c := range st.Calls {
			for _, on := range st.Targets[k] {
				if c.Op.Call.IsLock() {
					note(on.Path)
				}
			}
		}
	}
	if len(watch) > 0 {
		r.Watch(watch)
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
		if st.Choice.Action == sched.PowerLoss {
			steps = append(steps, command.Step{PowerLoss: true})
		}
		for _, c := range st.Calls {
			steps = append(steps, command.Step{Process: st.Choice.Task.Process, By: c.By, Op: c.Op, Result: c.Result, Fails: st.Choice.Fails != ""})
		}
	}
	return steps
}

// locate notes in a trace where in the commands' sources its calls stand.
func locate(tr trace.Trace, sources []scenarios.Source) {
	for i := range tr {
		if a := tr[i].Choice.Action; a == sched.Kill || a == sched.PowerLoss {
			sources = sources[1:]
			continue
		}
		for k := range tr[i].Calls {
			tr[i].Calls[k].Source, sources = sources[0], sources[1:]
		}
	}
}

// onKernel carries a followed run of commands out on the real kernel, times over.
func (a *app) onKernel(ctx context.Context, spec *command.Spec, tr trace.Trace, times int) error {
	same := 0
	var last command.Carried
	for range times {
		last = spec.Carry(ctx, carrySteps(tr), tr[len(tr)-1].After, false)
		if last.Confirmed() {
			same++
			continue
		}
		a.note("real: %s", last)
		if last.Differs != "" {
			a.worsen(ExitDiffers)
		} else {
			a.worsen(ExitUnknown)
		}
	}
	_, err := fmt.Fprintf(a.stdout, "\nreal    %d of %d runs go as on the model; of the last: %s\n", same, times, last)
	return err
}
