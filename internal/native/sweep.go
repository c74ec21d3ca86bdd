package native

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// A Report is what came of a sweep.
type Report struct {
	// Ends is how many different ends the serial runs gave.
	Ends int
	// Places is how many shared calls there are after which a command can be stopped; Tried how many of them were, with
	// one preemption, and Random how many drawn schedules were run.
	Places, Tried, Random int
	// Unended counts runs that took too long.
	Unended int
	// NotJudged counts runs that say nothing of the machine, beside those above, and OnlyHere says why of one: a call
	// failed in the view only.
	NotJudged int
	OnlyHere  string
	// NotCompared are names that differ between two serial runs of one order.
	NotCompared []string
	// Cut are files of the directory that have names outside, too: the copy is another file than those.
	Cut []string
	// Bad is an end that no serial order gives, and Hang a deadlock; nil when there is none.
	Bad, Hang *Found
	Took      time.Duration
}

// A Found is a run that ended otherwise than serial ones.
type Found struct {
	// Schedule is its order, "A stopped after 5 calls, B to its end, A to its end".
	Schedule string
	// Differs says what is otherwise than in the serial order that comes closest.
	Differs []string
	// Seen is how many of Runs runs of the schedule ended in no serial way.
	Seen, Runs int
}

// patience is how long a command may sleep before others go on. Where serial runs sleep, half of the runs wait
// longer: a lock may be stale by then.
const (
	patience     = 30 * time.Millisecond
	longPatience = 4 * time.Second
)

// Sweep runs schedules until one ends in no serial way, all are done, or the budget is spent: first each place with one
// preemption, then drawn ones. Where commands sleep the budget is twice as long as a serial run at least. Serial runs
// of the end that is found may take as long again.
//
// ends: such an end counts, and a deadlock does not end the sweep; otherwise only a deadlock counts.
func (c *Check) Sweep(ctx context.Context, budget time.Duration, ends bool) (Report, error) {
	if err := c.ready(); err != nil {
		return Report{}, err
	}
	begin := time.Now()
	if c.sleeps { // else it is over before the first run is
		budget = max(budget, 2*c.took)
	}
	in, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	rep := Report{}
	singles := c.singles()
	rep.Places = len(singles)
	if c.task.Sleeps {
		if near := c.atOnce(); ends {
			rep.Bad = near
		}
	}
	if rep.Bad != nil {
		singles = nil
	}
	err := c.sweep(ctx, in, singles, ends, &rep, &rep.Tried)
	if err == nil && rep.Bad == nil && (ends || rep.Hang == nil) {
		err = c.sweep(ctx, in, c.drawn(rep.Places, budget), ends, &rep, &rep.Random)
	}
	rep.Ends, rep.NotCompared, rep.Cut, rep.Took = len(c.orders), c.notCompared(), c.cut, time.Since(begin)
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return rep, err
}

// sweep runs jobs within the budget, in, and counts them.
func (c *Check) sweep(ctx, in context.Context, jobs []job, ends bool, rep *Report, count *int) error {
	for len(jobs) > 0 && in.Err() == nil {
		var suspect *job
		var end outcome
		err := c.all(in, jobs, func(j *job, r *run) bool {
			if r.OnlyHere != "" {
				rep.NotJudged++
				rep.OnlyHere = r.OnlyHere
				return true
			}
			*count++
			switch {
			case r.Cut == string(unended):
				rep.Unended++
				return true
			case r.Cut != deadlock && (!ends || c.isSerial(c.task.outcomeOf(r))):
				return true
			case r.Cut == deadlock && rep.Hang != nil: // one is enough, and another end may come
				return true
			}
			suspect = j
			if r.Cut != deadlock {
				end = c.task.outcomeOf(r)
			}
			return false
		})
		if err != nil || suspect == nil {
			return err
		}
		bad, err := c.judge(ctx, suspect, end, rep)
		if err != nil || bad && (end != nil || !ends) {
			return err
		}
		jobs = remaining(jobs, suspect)
	}
	return nil
}

// remaining are the jobs that come after one.
func remaining(jobs []job, last *job) []job {
	for i := range jobs {
		if text(jobs[i].Turns) == text(last.Turns) && jobs[i].Seed == last.Seed {
			return jobs[i+1:]
		}
	}
	return nil
}

// judge decides whether an end counts: asked of the serial side, and of the same schedule three times more. A nil end
// is a deadlock, which must come again.
func (c *Check) judge(ctx context.Context, j *job, end outcome, rep *Report) (bool, error) {
	if end != nil {
		if serial, err := c.clear(ctx, end, timesMore, severalMore); err != nil || serial {
			return false, err
		}
	}
	f := &Found{Schedule: text(j.Turns), Seen: 1, Runs: 1}
	if end != nil {
		f.Differs = c.differs(end)
	}
	err := c.all(ctx, []job{*j, *j, *j}, func(_ *job, r *run) bool {
		f.Runs++
		if (end == nil) == (r.Cut == deadlock) && (end == nil || !c.isSerial(c.task.outcomeOf(r))) {
			f.Seen++
		}
		return true
	})
	switch {
	case err != nil:
		return false, err
	case end != nil:
		rep.Bad = f
	case f.Seen > 1:
		rep.Hang = f
	default:
		return false, nil
	}
	return true, nil
}

// singles stops each command after each of its shared calls, while the others run to their ends.
func (c *Check) singles() []job {
	n := len(c.task.Commands)
	var out []job
	for a := range n {
		for k := 1; n > 1 && k < c.calls[a]; k++ {
			j := job{Patience: patience, Seed: uint64(len(out)), Turns: []Turn{{a, k}}}
			for i := range n {
				if k%2 == 0 {
					i = n - 1 - i
				}
				if i != a {
					j.Turns = append(j.Turns, Turn{i, -1})
				}
			}
			if c.sleeps && k%2 == 0 {
				j.Patience = longPatience
			}
			out = append(out, j)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(out), func(i, k int) { out[i], out[k] = out[k], out[i] })
	return out
}

// drawn draws schedules of two to five turns, as many as the places and the budget are worth. In half of them the
// tasks of a command go in drawn orders, too, and where commands sleep some are waited for.
func (c *Check) drawn(places int, budget time.Duration) []job {
	n := len(c.task.Commands)
	rng := rand.New(rand.NewPCG(2, 2))
	var out []job
	for i := range drawnRuns(places, budget) {
		j := job{Patience: patience, Seed: uint64(i)}
		if c.several && i%2 == 1 {
			j.Jitter = []float64{0.05, 0.3, 0.9}[i/2%3]
		}
		if c.sleeps {
			j.Patience = []time.Duration{patience, time.Second, longPatience}[i%3]
		}
		last := -1
		for range 2 + rng.IntN(4) {
			if a := rng.IntN(n); a != last {
				j.Turns = append(j.Turns, Turn{a, 1 + rng.IntN(max(1, c.calls[a]))})
				last = a
			}
		}
		out = append(out, j)
	}
	return out
}

// drawnRuns is how many runs are drawn.
func drawnRuns(places int, budget time.Duration) int {
	return int(min(8, max(2, float64(places)/10)) * budget.Seconds())
}

// text is an order in words.
func text(turns []Turn) string {
	var parts []string
	for _, t := range turns {
		if t.Calls < 0 {
			parts = append(parts, commandName(t.Command)+" to its end")
		} else {
			parts = append(parts, fmt.Sprintf("%s stopped after %d calls", commandName(t.Command), t.Calls))
		}
	}
	return strings.Join(append(parts, "the rest to their ends"), ", ")
}
