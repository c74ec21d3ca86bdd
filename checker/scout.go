package checker

import (
	"context"
	"math"
	"slices"

	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/sched"
)

// scout makes a few schedules before anything else: those that lose an update most often. It is for commands whose
// executions take long, so that there may be no time for more. A schedule that breaks something here has one
// preemption, and the attempts that follow find it, too. So scout decides how soon something is known. It decides the
// verdict only if the attempts that follow do not end.
func (g *decision) scout(ctx context.Context) (why string, err error) {
	all, _, err := g.directed(updates)
	for i := 0; i < len(all) && err == nil && ctx.Err() == nil && g.scouted == nil; i++ {
		var out search.Outcome
		g.tell(search.Progress{Drawn: i, Draws: len(all)})
		if out, err = g.t.Run(all[i], false); err == nil && out.Broken {
			f := &found{schedule: out.Schedule, ended: &search.EndedError{Why: "the schedule was directed"}}
			f.Kind, g.scouted = out.Kind, f
			err = g.meet(out.Schedule)
		}
	}
	return "a few schedules are not all", err
}

// A directing lists the directed schedules of one order of two tasks. alone and other are runs in which one task, or
// the other, goes first.
type directing func(alone, other *trace.Walk, task, by sched.Task) []course

// directed lists directed schedules of the first two processes, and says how many steps a run has.
func (g *decision) directed(list directing) (all []sched.Strategy, steps int, err error) {
	var walks []*trace.Walk
	tasks := []sched.Task{{Process: 0, N: 1}, {Process: 1, N: 1}}
	for _, first := range tasks[:min(len(tasks), g.t.Sc.Setting.Processes)] {
		out, err := g.t.Run(&course{{first, math.MaxInt}}, true)
		if err != nil {
			return nil, 0, err
		}
		steps = len(out.Schedule)
		walks = append(walks, trace.NewWalk(g.t.Sc, out.Trace))
	}
	if len(walks) == 2 {
		for i, w := range walks {
			for _, c := range list(w, walks[1-i], tasks[i], tasks[1-i]) {
				all = append(all, &c)
			}
		}
	}
	return all, steps, nil
}

// mostUpdates bounds the updates of each order of the first two processes.
const mostUpdates = 3

// updates lists schedules in which a task has looked at a name, and is stopped before it changes what stands there for
// the first time; the other task goes to its end, and then the first one. The last of them come first: a program that
// changes several files changes at last what it is about.
func updates(alone, other *trace.Walk, task, by sched.Task) (all []course) {
	theirs, seen, changed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, a := range accesses(other, by) {
		theirs[a.name] = theirs[a.name] || a.changes
	}
	for _, a := range accesses(alone, task) {
		if a.changes && theirs[a.name] && seen[a.name] && !changed[a.name] {
			all = append(all, course{{task, a.steps}, {by, math.MaxInt}, {task, math.MaxInt}})
		}
		seen[a.name], changed[a.name] = true, changed[a.name] || a.changes
	}
	slices.Reverse(all)
	return all[:min(len(all), mostUpdates)]
}
