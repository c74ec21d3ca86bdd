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
// it looks for a bad end near by, within the budget. hang: the order is to end in a deadlock, or in that some commands,
// polls, go round in vain; these rounds are left out of the order. Where commands sleep the order takes as long, and is
// left once the same commands end badly by themselves. oneOrder: of the tasks of a command one order was followed
// there, so that the end may be a serial one all the same.
func (c *Check) Carry(ctx context.Context, steps []Step, hang, oneOrder bool, budget time.Duration, polls ...int) (
	out Carried, err error) {
	// how many steps a call is looked for in; temporary names and fallbacks need the second
	tries := [][]int{{1}, {8}}
	if c.sleeps || stallOf(steps) >= 0 { // side by side, for they take no processor
		tries = [][]int{{1, 8}}
	}
	if c.task.Sleeps { // once more where files outside are shared, which serial runs show
		tries = append(tries, tries...)
	}
	forced, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.task.Sleeps && !hang {
		go func() {
			if c.atOnce() != nil {
				cancel()
			}
		}()
	}
	for i, windows := range tries {
		if i > 0 && c.task.Sleeps && len(c.outside) == 0 {
			break
		}
		var jobs []job
		for _, window := range windows {
			for n, steps := range stallsAt(steps) {
				seed := uint64(n % 3)
				j := job{Script: steps, Polls: polls, Window: window, Patience: patience, Seed: seed}
				if c.sleeps && seed > 0 { // a sleep may be part of the order
					j.Patience = longPatience * time.Duration(seed)
				}
				jobs = append(jobs, j)
			}
		}
		if err := c.carry(ctx, forced, jobs, hang, oneOrder, &out); err != nil || out.Bad > 0 || out.Near != nil {
			return out, err
		}
	}
	rep, err := c.Sweep(ctx, budget, !hang)
	if out.Near = rep.Bad; hang {
		out.Near = rep.Hang
	}
	return out, err
}

// carry runs scripts, and compares their ends once the serial ones are known.
func (c *Check) carry(ctx, forced context.Context, jobs []job, hang, oneOrder bool, out *Carried) error {
	var ran []*run
	stalled := make(chan error, 1)
	go func() { stalled <- c.serialStalls(ctx, jobs[0].Script) }() // at the same time, for nobody goes on in a stall
	err := c.all(forced, jobs, func(j *job, r *run) bool {
		r.strict = j.Patience == patience
		ran = append(ran, r)
		return true
	})
	if c.task.Sleeps {
		if near := c.atOnce(); !hang {
			out.Near = near
		}
	}
	if err == nil {
		err = c.ready()
	}
	if late := <-stalled; err == nil {
		err = late
	}
	var suspects []outcome
	out.Runs = len(ran)
	for _, k := range ran {
		o := c.task.outcomeOf(k)
		switch {
		case err != nil, k.Cut == string(unended) || k.OnlyHere != "":
		case k.Cut == deadlock, k.Cut == polling && k.Skipped == 0 && k.forced():
			if hang {
				out.Bad++
			}
		case len(jobs[0].Polls) > 0: // it has made other calls, and refutes nothing
		case !hang && !c.isSerial(o):
			suspects = append(suspects, o)
		case k.Skipped == 0 && k.forced() && k.strict:
			out.Forced++
			out.End = o.line()
		}
	}
	times, several := expectedMore, expectedSeveralMore
	if oneOrder {
		times, several = timesMore, severalMore
	}
	for i := 0; i < len(suspects) && err == nil; i++ {
		serial := c.isSerial(suspects[i])
		if !serial && out.Bad == 0 {
			serial, err = c.clear(ctx, suspects[i], times, several)
		}
		if !serial && err == nil {
			out.Bad++
		}
	}
	return err
}

// runAtOnce starts all commands, some times, and lets each go on when it can. It returns an end that no serial order
// gives.
func (c *Check) runAtOnce(ctx context.Context) *Found {
	f := Found{Schedule: "all at once"}
	var ends []outcome
	err := c.all(ctx, []job{{Patience: patience}, {Patience: patience, Seed: 1}, {Patience: patience, Seed: 2}},
		func(_ *job, r *run) bool {
			f.Runs++
			if r.Cut == "" && r.OnlyHere == "" {
				ends = append(ends, c.task.outcomeOf(r))
			}
			return true
		})
	if err != nil || c.ready() != nil {
		return nil
	}
	for _, o := range ends {
		if serial, err := c.clear(ctx, o, timesMore, severalMore); err != nil || serial {
			continue
		}
		f.Seen++
		f.Differs = c.differs(o)
	}
	if f.Seen == 0 {
		return nil
	}
	return &f
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
