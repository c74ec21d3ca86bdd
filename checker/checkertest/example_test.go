package checkertest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"lockpick/checker"
	"lockpick/checker/checkertest"
	"lockpick/checker/report"
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

// Every hazard, from the protocol alone. That a killed owner leaves the lock behind is accepted here.
func TestLockfileSurvey(t *testing.T) {
	checkertest.Survey(t, scenarios.Subject{ID: "mine/lockfile", Lock: lockfile}, "LP1020")
}

// Drawn schedules, for what is too large to check completely.
func TestLockfileDrawn(t *testing.T) {
	checkertest.Rapid(t, twoContend, scenarios.MutualExclusion)
}

// A counterexample that was saved is a regression test ever after: while the bug is there the
// test says so when it is gone, and once it is fixed the bundle guards the fix.
func TestSavedRaces(t *testing.T) {
	checkertest.Replay(t, "testdata/example/*.txtar", twoContend)
}

// A bundle is a text file. The command "explain --save testdata/wedge.txtar" writes it, and so
// does report.Bundle; Replay makes a test of it.
func ExampleReplay() {
	r, err := checker.Check(context.Background(), &twoContend, scenarios.Wedge, checker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	bundle, err := report.Bundle(&r)
	question, _, _ := strings.Cut(string(bundle), "-- calls --") // then what happened, and the verdict
	fmt.Println(question, err)

	// In a test, with the scenarios that bundles may name:
	_ = func(t *testing.T) { checkertest.Replay(t, "testdata/*.txtar", twoContend) }
	// Output:
	// lockpick bundle, version 2
	// A created tmp/lock at step 1 and was killed at step 2, and nobody else removes it: a fresh process is told EEXIST by open and gives up, however late it comes.
	// -- scenario --
	// mine/lockfile/crash
	// -- property --
	// wedge
	// -- setting --
	// processes 2
	// crashes 1
	// stalls 0
	// -- schedule --
	// A1! B2
	//  <nil>
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
