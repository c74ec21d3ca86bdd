package checker_test

import (
	"context"
	"fmt"
	"os"

	"lockpick/checker"
	"lockpick/scenarios"
)

// pidless is a lock file: whoever creates it has the lock, and removes it in the end.
var pidless = scenarios.Protocol{
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

func Example() {
	sc := &scenarios.Scenario{
		ID:      "mine/pidless/crash",
		Setting: scenarios.Setting{Processes: 2, Crashes: 1},
		Program: func(process, task int) scenarios.Program { return scenarios.Once(pidless) },
		Probe:   scenarios.Attempt(pidless),
		Claims: []scenarios.Claim{
			{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds},
			{Property: scenarios.Wedge, Verdict: scenarios.Broken},
		},
	}
	for _, c := range sc.Claims {
		r, err := checker.Check(context.Background(), sc, c.Property, checker.Options{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Property, r.Verdict)
		if r.Verdict == checker.Broken {
			fmt.Println(r.Counterexample.Schedule, r.Counterexample.Waits)
		}
	}
	// Output:
	// mutual-exclusion holds
	// wedge broken
	// A1! B2 [a fresh process gives up, however late it comes]
}
