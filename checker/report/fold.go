package report

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/numbers"
	"lockpick/model"
	"lockpick/sched"
)

// Long counterexamples are folded: of a stretch of steps that one task makes undisturbed,
// and that the cause does not speak of, one row is left.
const (
	foldAbove = 20 // rows that a chart has at least to be folded
	foldLeast = 5  // steps that a stretch has at least
)

// folded returns the chart with long stretches as one row each, but for the last rows,
// which are a cycle.
func (c *Chart) folded(cycle int) *Chart {
	if c.Programs {
		return c.foldedOwn(cycle).short(cycle, shortRows)
	}
	if len(c.Rows) <= foldAbove {
		return c
	}
	return c.collapsed(foldLeast, func(i int) int { return c.stretch(i, len(c.Rows)-cycle) }, c.fold)
}

// collapsed returns the chart with stretches of at least so many rows as one row each, which fold makes.
func (c *Chart) collapsed(least int, stretch func(from int) int, fold func(from, n int) Row) *Chart {
	f := *c
	f.Rows = nil
	for i := 0; i < len(c.Rows); {
		n := stretch(i)
		if n < least {
			f.Rows = append(f.Rows, c.Rows[i])
			i++
			continue
		}
		f.Rows = append(f.Rows, fold(i, n))
		i += n
	}
	return &f
}

// stretch is how many rows from one on, and up to another, can be folded into one.
func (c *Chart) stretch(from, to int) int {
	n := from
	for n < to && c.plain(&c.Rows[n]) && c.Rows[n].Lane == c.Rows[from].Lane {
		n++
	}
	return n - from
}

// plain reports whether a row may be folded: it is an ordinary step of a task, which
// interrupts nobody and is not spoken of, and it is not the last. Between the steps that
// the cause names, those are kept by which tasks make up their minds, and those that put
// another file at a watched name.
func (c *Chart) plain(r *Row) bool {
	if r.Lane < 0 || r.Fault || r.Wrong || r.Preempts || r.Clash || r.N == len(c.Rows) || slices.Contains(c.Named, r.N) {
		return false
	}
	if len(c.Named) == 0 || r.N < slices.Min(c.Named) || r.N > slices.Max(c.Named) {
		return true
	}
	st := &c.Walk.Steps[r.N-1]
	return !slices.ContainsFunc(st.Calls, decides) && !slices.ContainsFunc(st.Changes, func(ch trace.Change) bool {
		return ch.Identity() && slices.ContainsFunc(st.After.Files, func(f trace.FileState) bool { return f.Path == ch.Path })
	})
}

// decides reports whether a call is one by which a task makes up its mind: it asks for the
// time, for a process, for a kernel lock.
func decides(c trace.Call) bool {
	return c.Op.Call.Is(fsfake.Asks | fsfake.Locks)
}

// fold makes one row of several.
func (c *Chart) fold(from, n int) Row {
	first, last := &c.Rows[from], &c.Rows[from+n-1]
	before := c.First
	if from > 0 {
		before = c.Rows[from-1].Files
	}
	r := *last
	r.N, r.Folded, r.Source, r.Calls = first.N, n, "", []CallText{{Call: Visible(c.stretchText(from, n))}}
	r.Calls[0].Terse = r.Calls[0].Call
	r.Files = slices.Clone(last.Files)
	for k := range r.Files {
		r.Files[k].Changed = r.Files[k].Text != before[k].Text
	}
	return r
}

// stretchText tells what a task did in a stretch: the operations that ended there, or else
// its calls.
func (c *Chart) stretchText(from, n int) string {
	var done, calls []string
	var begun any
	for i := from; i < from+n; i++ {
		st := &c.Walk.Steps[i]
		if st.Invoked != nil {
			begun = st.Invoked
		}
		if st.Returned != nil {
			begun = nil
			done = append(done, ofLocks(c.Walk.Names, c.asked(i), operationText(c.asked(i), st.Returned)))
		}
		for _, call := range st.Calls {
			name := call.Op.Call.String()
			if call.Op.Call == fsfake.CallExit {
				done = append(done, "exits")
			}
			if len(calls) == 0 || calls[len(calls)-1] != name {
				calls = append(calls, name)
			}
		}
	}
	if len(done) == 0 {
		return fmt.Sprintf("goes on undisturbed, %d steps: %s", n, strings.Join(calls, ", "))
	}
	if begun != nil {
		done = append(done, ofLocks(c.Walk.Names, begun, beginning(begun)))
	}
	return fmt.Sprintf("%s undisturbed, %d steps", strings.Join(done, ", "), n)
}

// asked is the operation that returned with a step.
func (c *Chart) asked(step int) any {
	for i := step; i >= 0; i-- {
		if st := &c.Walk.Steps[i]; st.Invoked != nil && st.Choice.Task == c.Walk.Steps[step].Choice.Task {
			return st.Invoked
		}
	}
	return nil
}

// operationText tells an operation in a word or two.
func operationText(input, output any) string {
	switch out := output.(type) {
	case model.Acquired:
		if out.OK {
			return "acquires" + lockOf(input)
		}
		return "is refused" + lockOf(input)
	case model.Released:
		return "releases" + lockOf(input)
	}
	return fmt.Sprintf("%v → %v", input, output)
}

// beginning tells that an operation began.
func beginning(input any) string {
	switch input.(type) {
	case model.Acquire:
		return "begins to acquire" + lockOf(input)
	case model.Release:
		return "begins to release" + lockOf(input)
	}
	return fmt.Sprintf("begins %v", input)
}

// steps counts what happens in a schedule: every choice is a step.
func steps(s sched.Schedule) string { return numbers.Count(len(s), "step", "steps") }

// ofLocks shortens the name of its lock in the text of an operation, where there are several.
func ofLocks(names trace.Names, input any, text string) string {
	if lockOf(input) == "" {
		return text
	}
	return names.Shorten(text)
}

// lockOf names the lock that an operation is of, where there are several: " /x.lock".
func lockOf(input any) string {
	if name, _ := model.LockOf(input); name != "" {
		return " " + name
	}
	return ""
}
