package native

import (
	"context"
	"slices"
	"time"
)

// Stalls: time passes, and nobody goes on meanwhile.

// stalled is for how long nobody goes on, in all.
func (j *job) stalled() (long time.Duration) {
	for _, s := range j.Script {
		if s.Command == Nobody {
			long += j.StallFor
		}
	}
	return long
}

// stallOf is the step in which time passes first; negative for none.
func stallOf(script []Step) int {
	return slices.IndexFunc(script, func(s Step) bool { return s.Command == Nobody })
}

// stallsAt is a script three times. Where time passes in it, it follows three times more with that before the command
// that goes on at that time begins to: it may look at the clock in between, and is not stopped there.
func stallsAt(script []Step) [][]Step {
	all := [][]Step{script, script, script}
	stall := stallOf(script)
	if stall < 1 {
		return all
	}
	from := stall
	for from > 0 && script[from-1].Command == script[stall-1].Command {
		from--
	}
	early := slices.Insert(slices.Delete(slices.Clone(script), stall, stall+1), from, script[stall])
	return append(all, early, early, early)
}

// serialStalls makes the serial runs in which a command is stalled: each command where it is in a script when the
// first stall begins. What a command leaves behind alone may depend on that.
func (c *Check) serialStalls(ctx context.Context, script []Step) error {
	stall := stallOf(script)
	if stall < 0 {
		return nil
	}
	of := func(steps []Step, i int) []Step {
		return slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Command != i })
	}
	var jobs []job
	for _, ran := range c.every() {
		for _, a := range ran {
			j := job{Only: true, Patience: forever, Window: 8}
			for _, i := range ran {
				j.Script = append(j.Script, of(script[:stall], i)...)
				if i == a {
					j.Script = append(j.Script, script[stall])
				}
				j.Script, j.Turns = append(j.Script, of(script[stall:], i)...), append(j.Turns, Turn{i, -1})
			}
			jobs = append(jobs, j)
		}
	}
	return c.learnAll(ctx, jobs)
}
