package native

import (
	"context"
	"time"
)

// A Carried is what came of forcing an order of calls.
type Carried struct {
	// Bad is how many of Runs runs ended in no serial way, or in a deadlock when that was to be.
	Bad, Runs int
	// Forced is how many runs made all calls of the order, each in its place, and ended as some serial order does. Otherwise
	// that end is what it differs in.
	Forced int
	// End is how a forced run ended, by name.
	End map[string]string
	// Differs says what a bad end has otherwise than the closest serial order.
	Differs []string
	// Near is the schedule that ended badly, when it was not the order itself.
	Near *Found
}

// Carry forces the order of a run that was seen elsewhere, three times. Where that ends as a serial order does it looks for a
// bad end near by, within the budget. hang: the order is to end in a deadlock.
func (c *Check) Carry(ctx context.Context, steps []Step, hang bool, budget time.Duration) (Carried, error) {
	var out Carried
	var jobs []job
	for i := range 6 {
		jobs = append(jobs, job{Script: steps, Window: []int{1, 8}[i%2], Patience: patience, Seed: uint64(i)})
	}
	var suspects []outcome
	err := c.all(ctx, jobs, func(_ *job, r *run) bool {
		out.Runs++
		o := c.task.outcomeOf(r)
		switch {
		case r.Cut == string(unended):
		case r.Cut == deadlock:
			if hang {
				out.Bad++
			}
		case !hang && !c.isSerial(o):
			suspects = append(suspects, o)
		case r.Skipped == 0 && r.forced():
			out.Forced++
			out.End = o
		}
		return true
	})
	for _, o := range suspects {
		if err != nil {
			break
		}
		serial := c.isSerial(o)
		if !serial && out.Bad == 0 {
			serial, err = c.clear(ctx, o)
		}
		if !serial && err == nil {
			out.Bad++
			out.Differs = c.differs(o)
		}
	}
	if err != nil || out.Bad > 0 {
		return out, err
	}
	rep, err := c.Sweep(ctx, budget)
	if out.Near = rep.Bad; hang {
		out.Near = rep.Hang
	}
	return out, err
}

// forced reports whether each turn of the script ended where the script has another command go on.
func (r *run) forced() bool {
	for _, t := range r.Turns[:r.Parts] {
		if t.End == asleep || t.End == unended {
			return false
		}
	}
	return true
}
