package checker

import (
	"math"
	"slices"

	"lockpick/checker/internal/search"
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
	jumps bool // then the clock jumps
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
		if l.jumps && v.Stall {
			l.jumps = false
			return sched.Choice{Action: sched.Stall}, nil
		}
	}
	return sched.RunToCompletion{}.Next(v)
}

// follow makes a run whose tasks take turns as in another one without faults: each goes on until it has made the call
// with which its turn ends there. It may make others before, as programs do that look at a clock. Where one does not
// make that call, the run is none, and breaks nothing.
func follow(t *search.Tester, run trace.Trace) (out search.Outcome, err error) {
	var legs course
	done := 0
	for i := range run {
		task := run[i].Choice.Task
		last := i+1 == len(run)
		if !last && run[i+1].Choice.Task == task {
			continue
		}
		c := append(slices.Clone(legs), leg{task: task, steps: math.MaxInt})
		if out, err = t.Run(&c, true); err != nil || last {
			return out, err
		}
		end := nthSame(out.Trace, &run[i], nth(run[:i+1]))
		if end < done {
			break
		}
		legs = append(legs, leg{task: task, steps: end + 1 - done})
		done = end + 1
	}
	return search.Outcome{}, nil
}

// sameCall reports whether two steps are the same call of one task, whatever it writes.
func sameCall(a, b *trace.Step) bool {
	return a.Choice.Task == b.Choice.Task && slices.EqualFunc(a.Calls, b.Calls, func(c, d trace.Call) bool {
		return c.Op.Call == d.Op.Call && c.Op.Path == d.Op.Path && c.Op.Path2 == d.Op.Path2 && c.Op.FD == d.Op.FD
	})
}

// nth is how many steps of a run are like its last one, with that.
func nth(run trace.Trace) (n int) {
	for i := range run {
		if sameCall(&run[i], &run[len(run)-1]) {
			n++
		}
	}
	return n
}

// nthSame is the index of the nth step that is like st, or -1.
func nthSame(run trace.Trace, st *trace.Step, n int) int {
	for i := range run {
		if sameCall(&run[i], st) {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// An access is a step of a task that works on a name or changes what stands there.
type access struct {
	name    string
	steps   int // that the task has made before
	changes bool
}

// alone runs each of the first two processes before the other, and says how many steps a run has.
func (g *decision) alone() (walks []*trace.Walk, tasks []sched.Task, steps int, err error) {
	tasks = []sched.Task{{Process: 0, N: 1}, {Process: 1, N: 1}}
	for _, first := range tasks[:min(len(tasks), g.t.Sc.Setting.Processes)] {
		out, err := g.t.Run(&course{{task: first, steps: math.MaxInt}}, true)
		if err != nil {
			return nil, nil, 0, err
		}
		steps = len(out.Schedule)
		walks = append(walks, trace.NewWalk(g.t.Sc, out.Trace))
	}
	return walks, tasks, steps, nil
}

// delayed lists before which of its steps a task that has changed a name touches one, the last ones first: it has more
// to lose there.
func delayed(w *trace.Walk, task sched.Task) (steps []int) {
	changed := false
	for _, a := range accesses(w, task) {
		if changed && (len(steps) == 0 || steps[0] != a.steps) {
			steps = slices.Insert(steps, 0, a.steps)
		}
		changed = changed || a.changes
	}
	return steps[:min(len(steps), mostDirected)]
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
			c := course{{task: task, steps: a.steps}, {task: by, steps: m}, {task: task, steps: math.MaxInt}}
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
