package main

import (
	"os"

	"lockpick/scenarios"
)

const path = "/tmp/seat.lock"

// seat is a lock: whoever created the file has the seat, and removes it to get up.
var seat = scenarios.Protocol{
	Path: path,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return scenarios.Hold{}, err
		}
		return scenarios.Hold{}, f.Close()
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(path) },
}

// locks are the situations that the lock is put into, and what it promises there.
func locks() []scenarios.Scenario {
	contend := scenarios.Scenario{
		ID:      "seat/file/contend",
		Summary: "One call creates the file or fails.",
		Setting: scenarios.Setting{Processes: 3},
		Program: func(int, int) scenarios.Program { return scenarios.Once(seat) },
		Watch:   []string{path},
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}},
	}
	crash := contend
	crash.ID = "seat/file/crash"
	crash.Summary = "The same, and one process may be killed at any step."
	crash.Setting = scenarios.Setting{Processes: 2, Crashes: 1}
	crash.Probe = scenarios.Attempt(seat)
	crash.Claims = []scenarios.Claim{
		{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds},
		{Property: scenarios.Wedge, Verdict: scenarios.Broken}, // nobody removes the file of the dead
	}
	return []scenarios.Scenario{contend, crash}
}
