package checker

import (
	"math"
	"slices"

	"lockpick/checker/trace"
	"lockpick/sched"
)

// mostDirected bounds the directed schedules of each order of the first two processes.
const mostDirected = 15

// A course lets one task go on for so many steps, then another one, and so on.
type course []leg

type leg struct {
	task  sched.Task
	steps int
}

// Next implements [sched.Strategy].
func (c *course) Next(v *sched.View) (sched.Choice, error) {
	for ; len(*c) > 0; *c = (*c)[1:] {
		l := &(*c)[0]
		on := slices.ContainsFunc(v.Tasks, func(t sched.TaskView) bool {
			return t.Task == l.task && t.Enabled && !t.Idle
		})
		if l.steps > 0 && on {
			l.steps--
			return sched.Choice{Action: sched.Run, Task: l.task}, nil
		}
	}
	return sched.RunToCompletion{}.Next(v)
}

// An access is a step of a task that works on a name or changes what stands there.
type access struct {
	name    string
	steps   int // that the task has made before
	changes bool
}

// directed lists schedules in which a task is stopped before it comes back to a name, the other task changes what
// stands there, and the first one goes on to its end. Those come first in which the task has changed the name itself.
// alone and other are runs in which one task, or the other, goes first.
func directed(alone, other *trace.Walk, task, by sched.Task) (all []course) {
	var later []course
	mine, last := accesses(alone, task), map[string]int{}
	for _, a := range accesses(other, by) {
		if a.changes {
			last[a.name] = a.steps + 1
		}
	}
	seen, changed, done := map[string]bool{}, map[string]bool{}, map[[2]int]bool{}
	for _, a := range mine {
		m, conflicts := last[a.name]
		if at := [2]int{a.steps, m}; conflicts && seen[a.name] && !done[at] {
			done[at] = true
			c := course{{task, a.steps}, {by, m}, {task, math.MaxInt}}
			if changed[a.name] && !a.changes {
				all = append(all, c)
			} else {
				later = append(later, c)
			}
		}
		seen[a.name], changed[a.name] = true, changed[a.name] || a.changes
	}
	all = append(all, later...)
	return all[:min(len(all), mostDirected)]
}

// accesses are those of a task in the order of its steps.
func accesses(w *trace.Walk, task sched.Task) (all []access) {
	n := 0
	for i := range w.Steps {
		st := &w.Steps[i]
		if st.Choice.Task != task || st.Choice.Action != sched.Run {
			continue
		}
		for _, c := range st.Changes {
			all = append(all, access{c.Path, n, true})
		}
		for _, targets := range st.Targets {
			for _, t := range targets {
				if !slices.ContainsFunc(st.Changes, func(c trace.Change) bool { return c.Path == t.Path }) {
					all = append(all, access{t.Path, n, false})
				}
			}
		}
		n++
	}
	return all
}
