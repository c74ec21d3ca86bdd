package native

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lockpick/internal/lists"
)

// Kills say how commands are killed, and what must not come of it.
type Kills struct {
	// Again: when all have ended or been killed, the killed command runs once more. That must end as it does alone.
	Again bool
	// Group: what a command has started is killed with it.
	Group bool
	// Steps are the calls and the kill of a run that was seen elsewhere. It is forced first, as [Check.Carry] does.
	Steps []Step
	// Lost says what is lost in what is left behind; "" for nothing. The first is what was there before, the second
	// what serial runs of some of the commands leave behind. They are by names below the directory. nil asks nothing.
	Lost func(before map[string]string, serial []map[string]string, left map[string]string) string
}

// A Killed is what came of kills.
type Killed struct {
	// Places is how many shared calls there are after which a command can be killed before others begin, Tried how many
	// of them were, and Drawn how many runs in which others have gone on before.
	Places, Tried, Drawn int
	// Bad is what must not come of it; nil when it did not.
	Bad *Found
}

// inTime is how long a command may take that runs once more, beside what serial runs take.
const inTime = 2 * time.Second

// Kill forces the steps, then kills each command after each of its shared calls and lets the others run to their ends,
// then draws turns before the kill, until something comes of it that must not or the budget is spent. One command
// alone is killed with all that it has started; of several only the first process is, unless they are killed as groups.
// The task's Refuses is to be true of every end, so that serial runs of some commands count.
func (c *Check) Kill(ctx context.Context, budget time.Duration, k Kills) (Killed, error) {
	if err := c.ready(); err != nil {
		return Killed{}, err
	}
	in, cancel := context.WithTimeout(ctx, max(budget, 2*c.took))
	defer cancel()
	var out Killed
	jobs := c.kills(k)
	out.Places = len(jobs)
	jobs = slices.Concat(c.scripts(k), jobs, c.drawnKills(k, len(jobs), budget))
	var before map[string]string
	r, err := c.do(in, c.prepare(job{Only: true}))
	if err == nil {
		before = c.tree(c.task.outcomeOf(r))
	}
	for err == nil && len(jobs) > 0 && in.Err() == nil && out.Bad == nil {
		var suspect *job
		err = c.all(in, jobs, func(j *job, r *run) bool {
			switch {
			case len(j.Script) > 0:
			case j.KillAfter == 0:
				out.Tried++
			default:
				out.Drawn++
			}
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

// kills are the jobs in which a command is killed after each of its shared calls but the last, which is its end.
func (c *Check) kills(k Kills) []job {
	var out []job
	for a := range c.task.Commands {
		for at := 1; at < c.calls[a]; at++ {
			out = append(out, c.kill(k, a, uint64(len(out)), Turn{a, at}))
		}
	}
	return out
}

// kill is a job in which a command is killed after turns of which it has the last, or in a script if there are none.
func (c *Check) kill(k Kills, a int, seed uint64, turns ...Turn) job {
	n := len(c.task.Commands)
	j := job{Patience: patience, Seed: seed, Turns: turns, KillAfter: len(turns) - 1, Kill: onlyFirst, Limit: c.limit()}
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
	return j
}

// scripts are the jobs that force the steps, without those on files that no command is stopped at. What a command has
// started is killed when they are over, if it may be.
func (c *Check) scripts(k Kills) []job {
	at := slices.IndexFunc(k.Steps, isKill)
	if at < 0 {
		return nil
	}
	a := k.Steps[at].Command
	steps := slices.DeleteFunc(slices.Clone(k.Steps), func(s Step) bool {
		names := s.New
		if s.Path != "" {
			names = []string{s.Path}
		}
		return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			return name == c.task.Dir || strings.HasPrefix(name, c.task.Dir+"/") || c.outside[name]
		})
	})
	if !k.Again && !k.Group {
		steps = append(steps, Step{Command: a, Call: KillStep})
	}
	var out []job
	for _, window := range []int{1, 8} { // as in Carry
		for range 2 {
			j := c.kill(k, a, uint64(len(out)))
			j.Script, j.Window = steps, window
			if !k.Group {
				j.Kill = onlyFirst
			}
			out = append(out, j)
		}
	}
	return out
}

func isKill(s Step) bool { return s.Call == KillStep }

// killed is how often somebody is killed.
func (j *job) killed() int {
	n := 0
	for _, s := range j.Script {
		if isKill(s) {
			n++
		}
	}
	return max(n, 1)
}

// drawnKills draws jobs in which one or two commands go on before the one that is killed does, some of them to their
// ends.
func (c *Check) drawnKills(k Kills, places int, budget time.Duration) []job {
	n := len(c.task.Commands)
	if n == 1 {
		return nil
	}
	rng := rand.New(rand.NewPCG(3, 3))
	var out []job
	for range drawnRuns(places, budget) {
		a := rng.IntN(n)
		var turns []Turn
		for last := a; len(turns) < 1+rng.IntN(2); {
			b := rng.IntN(n)
			if b == last {
				continue
			}
			last = b
			turns = append(turns, Turn{b, 1 + rng.IntN(max(1, c.calls[b]))})
		}
		out = append(out, c.kill(k, a, uint64(len(out)), append(turns, Turn{a, 1 + rng.IntN(max(1, c.calls[a]-1))})...))
	}
	return out
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
	if r.OnlyHere != "" || len(r.Killed) < j.killed() {
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
	serial := lists.Map(c.orders, func(l order) map[string]string { return c.tree(l.end) })
	return k.Lost(maps.Clone(before), serial, c.tree(o))
}

// killedAgain asks the serial side once more what differs between runs of one order, and then the same kill three
// times.
func (c *Check) killedAgain(ctx context.Context, k Kills, j *job, before map[string]string) (*Found, error) {
	times := 2
	if c.several && !c.sleeps { // what a command leaves behind alone depends on the order of its tasks
		times = severalMore
	}
	if err := c.serialRuns(ctx, times); err != nil || ctx.Err() != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	f := &Found{}
	err := c.all(ctx, []job{*j, *j, *j}, func(j *job, r *run) bool {
		f.Runs++
		if said := c.wrong(k, j, r, before); said != "" {
			f.Seen++
			f.Differs, f.Schedule = []string{said}, c.killedText(r)
		}
		return true
	})
	if f.Seen == 0 {
		return nil, err
	}
	return f, err
}

// killedText is the order of a run up to its last kill, in words.
func (c *Check) killedText(r *run) string {
	var parts []string
	killed := map[int]bool{}
	for i, t := range r.Turns[:r.Killed[len(r.Killed)-1]] {
		name := commandName(t.Command)
		switch {
		case slices.Contains(r.Killed, i+1) && killed[t.Command] && t.End == ended:
		case slices.Contains(r.Killed, i+1) && killed[t.Command]:
			parts = append(parts, fmt.Sprintf("what %s has started killed after %d calls", name, t.Calls))
		case slices.Contains(r.Killed, i+1):
			killed[t.Command] = true
			parts = append(parts, fmt.Sprintf("%s killed after %d calls", name, t.Calls))
		case t.End == ended:
			parts = append(parts, name+" to its end")
		case t.Calls > 0:
			parts = append(parts, fmt.Sprintf("%s stopped after %d calls", name, t.Calls))
		}
	}
	if len(c.task.Commands) > 1 {
		parts = append(parts, "the rest to their ends")
	}
	return strings.Join(parts, ", ")
}
