package checkertest_test

import (
	"fmt"
	"os"
	"testing"

	"lockpick/checker"
	"lockpick/checker/checkertest"
	"lockpick/scenarios"
	"lockpick/sched"
)

// lockfile creates a file to lock and removes it to unlock.
var lockfile = scenarios.Protocol{
	Path: "/tmp/lock",
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile("/tmp/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		return scenarios.Hold{File: f}, err
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		_ = h.File.Close()
		return t.Unlink("/tmp/lock")
	},
}

// twoContend asks two questions of it: it excludes, but a crash leaves it locked.
var twoContend = scenarios.Scenario{
	ID:      "mine/lockfile/crash",
	Setting: scenarios.Setting{Processes: 2, Crashes: 1},
	Program: func(int, int) scenarios.Program { return scenarios.Once(lockfile) },
	Probe:   scenarios.Attempt(lockfile),
	Claims: []scenarios.Claim{
		{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds},
		{Property: scenarios.Wedge, Verdict: scenarios.Broken},
	},
}

// Every claim, over every schedule.
func TestLockfile(t *testing.T) { checkertest.Run(t, twoContend) }

// Drawn schedules, for what is too large to check completely.
func TestLockfileDrawn(t *testing.T) {
	checkertest.Rapid(t, twoContend, scenarios.MutualExclusion)
}

// Schedules work outside of tests, too.
func ExampleSchedules() {
	runner, err := checker.NewRunner(&twoContend, scenarios.Wedge)
	if err != nil {
		fmt.Println(err)
		return
	}
	schedules := checkertest.Schedules(&twoContend)
	for seed := range 100 {
		ran, err := runner.Run(sched.RunToCompletion{Preemptions: schedules.Example(seed)}, false)
		if err != nil || ran.Broken {
			small, _ := runner.Shrink(ran.Schedule)
			fmt.Println(small, err)
			return
		}
	}
	// Output: B1! A2 <nil>
}
