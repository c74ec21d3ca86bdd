package checkertest

import (
	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// maxPreemptions is how many preemptions are drawn at most. Bugs need few: of the
// reported ones none needs more than four.
const maxPreemptions = 8

// Schedules generates schedules of sc in the form that shrinks best: a list of
// preemptions, kills and stalls over the baseline in which every task runs until it
// ends, blocks or sleeps. [sched.RunToCompletion] follows it. Draw it in a property, or
// take Example(seed) anywhere.
//
// It panics when sc is not valid.
func Schedules(sc *scenarios.Scenario) *rapid.Generator[[]sched.Preemption] {
	if err := sc.Validate(); err != nil {
		panic(err)
	}
	choices := choices(sc)
	steps := baselineSteps(sc)
	one := rapid.Custom(func(t *rapid.T) sched.Preemption {
		return sched.Preemption{
			Step:   rapid.IntRange(0, steps).Draw(t, "step"),
			Choice: choices[rapid.IntRange(0, len(choices)-1).Draw(t, "choice")],
		}
	})
	return rapid.SliceOfN(one, 0, maxPreemptions)
}

// choices lists what can be forced at a step: a switch to any task, the kill of any
// process that may die, the stall.
func choices(sc *scenarios.Scenario) []sched.Choice {
	var all []sched.Choice
	for i := range sc.Setting.Processes {
		for n := 1; n <= sc.Setting.TasksOf(i); n++ {
			all = append(all, sched.Choice{Action: sched.Run, Task: sched.Task{Process: i, N: n}})
		}
	}
	for i := range sc.Setting.Processes {
		if sc.Setting.Crashes > 0 && sc.Setting.CanDie(i) {
			all = append(all, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: i, N: 1}})
		}
	}
	if sc.Setting.Stalls > 0 {
		all = append(all, sched.Choice{Action: sched.Stall})
	}
	return all
}

// baselineSteps is how long a run without preemptions is: the last step at which a
// preemption is worth forcing, or nearly so.
func baselineSteps(sc *scenarios.Scenario) int {
	r, err := checker.NewRunner(sc, sc.Claims[0].Property)
	if err != nil {
		panic(err)
	}
	ran, err := r.Run(sched.RunToCompletion{}, false)
	if err != nil {
		panic(err)
	}
	return max(len(ran.Schedule), 1)
}
