package main

import "lockpick/scenarios"

const path = "/tmp/seat.lock"

// seat is a lock: whoever created the file has the seat, and removes it to get up.
var seat = scenarios.Protocol{
	Path: path,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if _, err := t.Stat(path); err == nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, t.WriteFile(path, []byte("taken"), 0o644)
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(path) },
}

// locks are the situations that the lock is put into, and what it promises there.
func locks() []scenarios.Scenario {
	return []scenarios.Scenario{{
		ID:      "seat/file/contend",
		Summary: "Look whether the file is there, and create it if not.",
		Setting: scenarios.Setting{Processes: 2},
		Program: func(int, int) scenarios.Program { return scenarios.Once(seat) },
		Watch:   []string{path},
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}},
	}}
}
