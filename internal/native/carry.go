package native

import (
	"context"
	"time"
)

// A Carried is what came of forcing an order of calls.
type Carried struct {
	// Bad is how many of Runs runs ended in no serial way, or in a deadlock when that was to be.
	Bad, Runs int
	// Forced is how many runs made all calls of the order, each in its place, and ended as some serial order does.
	Forced int
	// End is how a forced run ended, in a line.
	End string
	// Near is the schedule that ended badly, when it was not the order itself.
	Near *Found
}

// Carry forces the order of a run that was seen elsewhere, three times or six. Where that ends as a serial order does
// it looks for a bad end near by, within the budget. hang: the order is to end in a deadlock.
func (c *Check) Carry(ctx context.Context, steps []Step, hang bool, budget time.Duration) (Carried, error) {
	var out Carried
	tries := [][]int{{1}, {8}} // how many steps a call is looked for in; temporary names and fallbacks need the second
	if c.sleeps {              // side by side, for they take no processor
		tries = [][]int{{1, 8}}
	}
	for _, windows := range tries {
		var jobs []job
		for _, window := range windows {
			for seed := range uint64(3) {
				j := job{Script: steps, Window: window, Patience: patience, Seed: seed}
				if c.sleeps && seed > 0 { // a sleep may be part of the order
					j.Patience = longPatience * time.Duration(seed)
				}
				jobs = append(jobs, j)
			}
		}
		if err := c.carry(ctx, jobs, hang, &out); err != nil || out.Bad > 0 {
			return out, err
		}
	}
	rep, err := c.Sweep(ctx, budget, !hang)
	if out.Near = rep.Bad; hang {
		out.Near = rep.Hang
	}
	return out, err
}

// carry runs scripts.
func (c *Check) carry(ctx context.Context, jobs []job, hang bool, out *Carried) error {
	var suspects []outcome
	out.Runs = 0
	err := c.all(ctx, jobs, func(j *job, r *run) bool {
		out.Runs++
		o := c.task.outcomeOf(r)
		switch {
		case r.Cut == string(unended) || r.OnlyHere != "":
		case r.Cut == deadlock:
			if hang {
				out.Bad++
			}
		case !hang && !c.isSerial(o):
			suspects = append(suspects, o)
		case r.Skipped == 0 && r.forced() && j.Patience == patience: // who may sleep may also come too late
			out.Forced++
			out.End = o.line()
		}
		return true
	})
	for i := 0; i < len(suspects) && err == nil; i++ {
		serial := c.isSerial(suspects[i])
		if !serial && out.Bad == 0 {
			serial, err = c.clear(ctx, suspects[i])
		}
		if !serial && err == nil {
			out.Bad++
		}
	}
	return err
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
