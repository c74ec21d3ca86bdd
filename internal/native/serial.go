package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"lockpick/internal/lists"
)

// forever is the patience of serial runs: with less the next command begins while one sleeps.
const forever = time.Hour

// longestSerial is how long the first serial runs may take.
const longestSerial = 30 * time.Second

// timesMore is how often each order is run again before an end that no order gave counts. Where commands sleep each is
// run so often at once, since a serial run takes as long as they sleep. Where a command has several tasks its serial
// ends depend on their order, too: each order is then run so often more. An end that the model has as well needs fewer
// such runs where that has followed all orders of those tasks.
const timesMore, soonMore, severalMore, expectedMore, expectedSeveralMore = 4, 3, 12, 1, 3

// serial makes the serial runs: each order twice, so that what differs without any schedule is known.
func (c *Check) serial(ctx context.Context) error {
	times := 2
	if c.sleeps { // what is asked again later takes as long as they sleep
		times = soonMore
	}
	if err := c.serialRuns(ctx, times); err != nil {
		return err
	}
	if len(c.outside) > 0 && !c.sleeps { // calls on files outside are shared from now on: they are counted once more
		if err := c.serialRuns(ctx, 1); err != nil {
			return err
		}
	}
	if c.onlyHere != "" && !c.below {
		c.below, c.onlyHere, c.orders, c.late, c.rounds = true, "", nil, nil, 0
		return c.serial(ctx)
	}
	if c.onlyHere != "" {
		return errors.New(c.onlyHere)
	}
	for _, ran := range c.late {
		if !slices.ContainsFunc(c.orders, func(k order) bool { return slices.Equal(k.ran, ran) }) {
			return fmt.Errorf("the commands take longer than %v one after the other, run natively", longestSerial)
		}
	}
	if len(c.orders) == 0 {
		return errors.New("no command comes to an end alone, run natively")
	}
	return nil
}

// serialRuns makes serial runs of each order, some times. From the third time on the tasks of a command go in drawn
// orders, half of the times by ranks.
func (c *Check) serialRuns(ctx context.Context, times int) error {
	var jobs []job
	for n := range times {
		for _, ran := range c.every() {
			if n > 0 && c.sleeps && len(ran) < len(c.task.Commands) {
				continue // what it leaves different the others show
			}
			j := job{Only: true, Patience: forever, Seed: uint64(c.rounds)}
			if c.rounds < 2 {
				j.Limit = longestSerial
			}
			switch {
			case c.rounds > 1 && c.several && c.rounds%2 == 0:
				j.Ranked = true
			case c.rounds > 1 && (c.several || c.sleeps):
				j.Jitter = []float64{0.05, 0.3, 0.9}[c.rounds%3]
			}
			for _, i := range ran {
				j.Turns = append(j.Turns, Turn{i, -1})
			}
			jobs = append(jobs, j)
		}
		c.rounds++
	}
	return c.learnAll(ctx, jobs)
}

// learnAll makes serial runs.
func (c *Check) learnAll(ctx context.Context, jobs []job) error {
	return c.all(ctx, jobs, func(j *job, r *run) bool {
		c.took, c.onlyHere = max(c.took, r.Took), cmp.Or(c.onlyHere, r.OnlyHere)
		c.sleeps = c.sleeps || r.Slept > r.Took/4
		if r.Cut == string(unended) {
			c.late = append(c.late, j.commands())
		}
		for _, t := range r.Turns[r.Parts:] {
			if t.End != ended { // it waits for another one, so that this order has no end
				return true
			}
		}
		c.learn(j, r)
		return true
	})
}

// every lists the orders: of all commands, and where some may refuse also of some. Of commands that are alike the first
// goes first, for the others do the same.
func (c *Check) every() [][]int {
	n := len(c.task.Commands)
	var out [][]int
	var extend func(ran []int)
	extend = func(ran []int) {
		if len(ran) == n || (len(ran) > 0 || c.task.AllRefuse) && c.task.Refuses != nil {
			out = append(out, slices.Clone(ran))
		}
		for i := range n {
			if !slices.Contains(ran, i) && c.task.first(i, ran) {
				extend(append(slices.Clone(ran), i))
			}
		}
	}
	extend(nil)
	return out
}

// first reports whether all earlier commands that are alike have run.
func (t *Task) first(i int, ran []int) bool {
	for k := range i {
		if t.alike(k, i) && !slices.Contains(ran, k) {
			return false
		}
	}
	return true
}

// alike reports whether two commands do the same.
func (t *Task) alike(i, k int) bool {
	a, b := t.Commands[i], t.Commands[k]
	return a.Stdin == b.Stdin && slices.Equal(a.Argv, b.Argv)
}

// commands are those of a serial run, in their order.
func (j *job) commands() []int {
	return lists.Map(j.Turns, func(t Turn) int { return t.Command })
}

// learn adds the end of a serial run, also as one of other commands that are alike.
func (c *Check) learn(j *job, r *run) {
	c.runs++
	ran := j.commands()
	var extend func(as []int)
	extend = func(as []int) {
		if len(as) == len(ran) {
			c.add(as, r.by(ran, as))
			return
		}
		for i := range c.task.Commands {
			if !slices.Contains(as, i) && c.task.alike(ran[len(as)], i) {
				extend(append(slices.Clone(as), i))
			}
		}
	}
	extend(nil)
}

// by is a serial run as if other commands had run.
func (r *run) by(ran, as []int) *run {
	is, n := *r, len(r.Exits)
	is.Exits, is.Printed, is.Pids, is.Calls = make([]string, n), make([]string, n), make([][]int, n), make([]int, n)
	for k, i := range as {
		was := ran[k]
		is.Exits[i], is.Printed[i], is.Pids[i], is.Calls[i] = r.Exits[was], r.Printed[was], r.Pids[was], r.Calls[was]
	}
	return &is
}

// add adds the end of a serial run of some commands.
func (c *Check) add(ran []int, r *run) {
	o := order{ran: slices.Clone(ran), end: c.task.outcomeOf(r)}
	for i := range r.Exits { // of those that did not run nothing is compared
		c.calls[i] = max(c.calls[i], r.Calls[i])
		if !slices.Contains(o.ran, i) {
			delete(o.end, commandName(i))
			delete(o.end, commandName(i)+" prints")
		}
		c.several = c.several || len(r.Pids[i]) > 1
	}
	first := true
	for _, k := range c.orders {
		if slices.Equal(k.ran, o.ran) {
			first = false
			for _, name := range namesOf(k.end, o.end) {
				if name[0] == '/' && k.end[name] != o.end[name] {
					c.varies[name] = true
				}
			}
		}
	}
	for name := range r.Outside { // order does not matter: it goes into a set
		if first {
			c.outside[name] = true
		}
	}
	if !slices.ContainsFunc(c.orders, func(k order) bool {
		return slices.Equal(k.ran, o.ran) && maps.Equal(k.end,
			o.end)
	}) {
		c.orders = append(c.orders, o)
	}
}

// clear asks the serial side again whether an outcome is one of its own: with so many runs of each order, and several
// more where commands have several tasks. Names that differ between two runs of one order are compared no more: they
// differ without any schedule.
func (c *Check) clear(ctx context.Context, o outcome, times, several int) (bool, error) {
	if c.rounds < soonMore || !c.sleeps {
		if err := c.serialRuns(ctx, times); err != nil || ctx.Err() != nil {
			return false, errors.Join(err, ctx.Err())
		}
	}
	if !c.isSerial(o) && c.several && !c.sleeps {
		if err := c.serialRuns(ctx, several); err != nil || ctx.Err() != nil {
			return false, errors.Join(err, ctx.Err())
		}
	}
	if c.isSerial(o) {
		return true, nil
	}
	for i, k := range c.orders {
		for _, l := range c.orders[:i] {
			if !slices.Equal(k.ran, l.ran) {
				continue
			}
			for _, name := range namesOf(k.end, l.end) {
				c.differ(name, k.end, l.end)
			}
		}
	}
	return c.isSerial(o), nil
}

// differ notes what two runs of one order have different of a name.
func (c *Check) differ(name string, a, b outcome) {
	text, here := a[name]
	other, there := b[name]
	switch {
	case here != there:
		c.loose[path.Dir(name)] = true
	case text != other:
		c.varies[name] = true
	}
}

// Compares reports whether a line of an outcome is compared: not where two serial runs of one order leave it different.
// there: there is such a line on both sides.
func (c *Check) Compares(line string, there bool) bool {
	switch _, of := lineOf(line, len(c.task.Commands)); {
	case of:
		return there && !c.varies[line] // of those that have not run nothing is compared
	case c.elsewhere(line):
		return false
	}
	return !c.varies[line] && (there || !c.loose[path.Dir(line)])
}

// notCompared lists names that differ between serial runs of one order, so that nothing is concluded from them.
func (c *Check) notCompared() []string {
	names := slices.Collect(maps.Keys(c.varies))
	for dir := range c.loose { // order does not matter: they are sorted
		names = append(names, "which names are in "+dir)
	}
	slices.Sort(names)
	for i, name := range names {
		if _, of := lineOf(name, len(c.task.Commands)); of {
			names[i] = fmt.Sprintf("how %s ends or what it prints", name[:1])
		}
	}
	return slices.Compact(names)
}
