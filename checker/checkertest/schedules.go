package checkertest

import (
	"pgregory.net/rapid"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Schedules generates schedules of sc in the form that shrinks best: a list of
// preemptions, kills and stalls over the baseline in which every task runs until it
// ends, blocks or sleeps. [sched.RunToCompletion] follows it. Draw it in a property, or
// take Example(seed) anywhere.
//
// Some lists are short, some switch at most steps: few preemptions find the bugs that
// need a task to run far, many find those that need several switches close together.
// Faults are drawn apart from switches, no more than the setting allows, so that a kill
// is as likely late as early.
//
// It panics when sc is not valid.
func Schedules(sc *scenarios.Scenario) *rapid.Generator[[]sched.Preemption] {
	if err := sc.Validate(); err != nil {
		panic(err)
	}
	steps := 2 * baselineSteps(sc) // whoever polls or fails takes steps of its own
	switches, faults := choices(sc)
	fault, change := preemption(faults, steps), preemption(switches, steps)
	atLeast := rapid.IntRange(0, steps)
	return rapid.Custom(func(t *rapid.T) []sched.Preemption {
		var list []sched.Preemption
		if len(faults) > 0 {
			budget := sc.Setting.Crashes + sc.Setting.Stalls + sc.Setting.PowerLosses + sc.Setting.FailingCalls + sc.Setting.Signals
			list = rapid.SliceOfN(fault, 0, budget).Draw(t, "faults")
		}
		few := atLeast.Draw(t, "at least")
		return append(list, rapid.SliceOfN(change, few, -1).Draw(t, "switches")...)
	})
}

// preemption generates one of the choices at one of the steps. The smallest is the
// first choice at step 0, which for switches is what the baseline does anyway.
func preemption(choices []sched.Choice, steps int) *rapid.Generator[sched.Preemption] {
	step, index := rapid.IntRange(0, steps), rapid.IntRange(0, max(len(choices)-1, 0))
	return rapid.Custom(func(t *rapid.T) sched.Preemption {
		return sched.Preemption{Step: step.Draw(t, "step"), Choice: choices[index.Draw(t, "choice")]}
	})
}

// choices lists what can be forced at a step: a switch to any task, and the faults,
// which are the kill of any process that may die, a call that fails, a signal, and the stall.
func choices(sc *scenarios.Scenario) (switches, faults []sched.Choice) {
	for i := range sc.Setting.Processes {
		for n := 1; n <= sc.Setting.TasksOf(i); n++ {
			switches = append(switches, sched.Choice{Action: sched.Run, Task: sched.Task{Process: i, N: n}})
		}
		for _, name := range sc.Setting.FailNames() {
			for n := 1; n <= sc.Setting.TasksOf(i); n++ {
				faults = append(faults, sched.Choice{Action: sched.Run, Task: sched.Task{Process: i, N: n}, Fails: name})
			}
		}
		if sc.Setting.Crashes > 0 && sc.Setting.CanDie(i) {
			faults = append(faults, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: i, N: 1}})
		}
	}
	for k := range drawnLosses * sc.Setting.PowerLosses {
		faults = append(faults, sched.Choice{Action: sched.PowerLoss, State: k})
	}
	for _, i := range sc.Setting.Handlers {
		if sc.Setting.Signals == 0 {
			break
		}
		faults = append(faults, sched.Choice{Action: sched.Signal, Task: sched.Task{Process: i, N: 1}})
	}
	if sc.Setting.Stalls > 0 {
		faults = append(faults, sched.Choice{Action: sched.Stall})
	}
	return switches, faults
}

// drawnLosses is how many states of the disk after a loss of power are drawn from; the
// strategies pass over one that is not there.
const drawnLosses = 16

// baselineSteps is how long a run without preemptions is.
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
