package native

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kills say how commands are killed, and what must not come of it.
type Kills struct {
	// Again: when all have ended or been killed, the killed command runs once more. That must end as it does alone.
	Again bool
	// Group: what a command has started is killed with it.
	Group bool
	// Lost says what is lost in what is left behind; "" for nothing. The first is what was there before, the second
	// what serial runs of some of the commands leave behind. They are by names below the directory. nil asks nothing.
	Lost func(before map[string]string, serial []map[string]string, left map[string]string) string
}

// A Killed is what came of kills.
type Killed struct {
	// Places is how many shared calls there are after which a command can be killed, Tried how many of them were.
	Places, Tried int
	// Bad is what must not come of it; nil when it did not.
	Bad *Found
}

// inTime is how long a command may take that runs once more, beside what serial runs take.
const inTime = 2 * time.Second

// Kill kills each command after each of its shared calls, and lets the others run to their ends, until something comes
// of it that must not or the budget is spent. One command alone is killed with all that it has started; of several only
// the first process is, unless they are killed as groups. The task's Refuses is to be true of every end, so that serial
// runs of some commands count.
func (c *Check) Kill(ctx context.Context, budget time.Duration, k Kills) (Killed, error) {
	if err := c.ready(); err != nil {
		return Killed{}, err
	}
	in, cancel := context.WithTimeout(ctx, max(budget, 2*c.took))
	defer cancel()
	var out Killed
	jobs := c.kills(k)
	out.Places = len(jobs)
	before, err := c.left(in, job{Only: true})
	for err == nil && len(jobs) > 0 && in.Err() == nil && out.Bad == nil {
		var suspect *job
		err = c.all(in, jobs, func(j *job, r *run) bool {
			out.Tried++
			if c.wrong(k, j, r, before) != "" {
				suspect = j
			}
			return suspect == nil
		})
		if err != nil || suspect == nil {
			break
		}
		jobs = remaining(jobs, suspect)
		out.Bad, err = c.killedAgain(ctx, k, suspect, before)
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return out, err
}

// kills are the jobs: a command is killed after each of its shared calls but the last, which is its end.
func (c *Check) kills(k Kills) []job {
	n := len(c.task.Commands)
	var out []job
	for a := range n {
		for at := 1; at < c.calls[a]; at++ {
			j := job{Patience: patience, Seed: uint64(len(out)), Turns: []Turn{{a, at}}}
			j.Kill, j.Limit = onlyFirst, c.limit()
			if k.Group || n == 1 && !k.Again {
				j.Kill = withChildren
			}
			for i := range n {
				j.Turns = append(j.Turns, Turn{i, -1})
			}
			if k.Again {
				j.Again, j.Limit, j.Patience = a+1, inTime+5*c.took, forever
				j.Turns = append(j.Turns, Turn{n, -1})
			}
			out = append(out, j)
		}
	}
	return out
}

// left is what a run leaves behind below the directory, by name.
func (c *Check) left(ctx context.Context, j job) (map[string]string, error) {
	j = c.prepare(j)
	r, err := c.do(ctx, j)
	if err != nil {
		return nil, err
	}
	return c.tree(c.task.outcomeOf(r)), nil
}

// tree is what an outcome says of names below the directory that are compared.
func (c *Check) tree(o outcome) map[string]string {
	out := map[string]string{}
	for name, text := range o { // order does not matter: it goes into a map
		_, of := lineOf(name, len(c.task.Commands)+1)
		if !of && !strings.HasPrefix(name, "/") && !c.varies[name] {
			out[name] = text
		}
	}
	return out
}

// wrong says what has come of a kill that must not; "" for nothing.
func (c *Check) wrong(k Kills, j *job, r *run, before map[string]string) string {
	if r.OnlyHere != "" || r.Turns[0].End != held || r.Turns[0].Calls != j.Turns[0].Calls { // it was not killed there
		return ""
	}
	o := c.task.outcomeOf(r)
	if k.Again {
		again := o[commandName(len(c.task.Commands))]
		alone := slices.ContainsFunc(c.orders, func(l order) bool { return l.end[commandName(j.Again-1)] == again })
		switch {
		case r.Cut == deadlock:
			return "one more run waits for ever"
		case r.Cut != "":
			return fmt.Sprintf("one more run does not end within %s", j.Limit.Round(100*time.Millisecond))
		case !alone:
			return "one more run ends with " + again
		}
	}
	if k.Lost == nil || r.Cut != "" {
		return ""
	}
	var serial []map[string]string
	for _, l := range c.orders {
		serial = append(serial, c.tree(l.end))
	}
	return k.Lost(maps.Clone(before), serial, c.tree(o))
}

// killedAgain asks the serial side once more what differs between runs of one order, and then the same kill three
// times.
func (c *Check) killedAgain(ctx context.Context, k Kills, j *job, before map[string]string) (*Found, error) {
	if err := c.serialRuns(ctx, 2); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	f := &Found{Schedule: fmt.Sprintf("%s killed after %d calls", commandName(j.Turns[0].Command), j.Turns[0].Calls)}
	if len(c.task.Commands) > 1 {
		f.Schedule += ", the rest to their ends"
	}
	err := c.all(ctx, []job{*j, *j, *j}, func(j *job, r *run) bool {
		f.Runs++
		if said := c.wrong(k, j, r, before); said != "" {
			f.Seen++
			f.Differs = []string{said}
		}
		return true
	})
	if f.Seen == 0 {
		return nil, err
	}
	return f, err
}
