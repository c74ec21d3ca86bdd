package ctx

import (
	"strconv"

	"lockpick/scenarios"
)

// The threads.
const (
	issue = "https://github.com/ActiveMemory/ctx/issues/93"
	fix   = "https://github.com/ActiveMemory/ctx/pull/113"
)

// locks are the locks alone, by variant; the cleared cursor is no lock of its own.
var locks = map[string]scenarios.Protocol{
	"stat-then-write": statThenWrite, "excl": excl, "flock": flock,
	"pid-cleanup": pidCleanup(false), "pid-cleanup-empty-stale": pidCleanup(true),
}

// Scenarios lists the scenarios of `ctx connect sync`.
func Scenarios() []scenarios.Scenario {
	me, dup, wedge := scenarios.MutualExclusion, scenarios.Duplicate, scenarios.Wedge
	list := []scenarios.Scenario{
		{
			ID:      "ctx/stat-then-write/contend",
			Summary: "A stat finds no lock, and then the lock is written: two calls.",
			Report:  issue, Source: statThenWriteSource,
			Setting: scenarios.Setting{Interchangeable: true, Processes: 2},
			Program: each(statThenWrite),
			Claims:  []scenarios.Claim{broken(me), broken(dup)},
		},
		{
			ID:      "ctx/excl/contend",
			Summary: "One open creates the lock or fails.",
			Report:  fix, Source: exclSource,
			Setting: scenarios.Setting{Interchangeable: true, Processes: 3},
			Program: each(excl),
			Claims:  []scenarios.Claim{holds(me), holds(dup)},
		},
		{
			ID:      "ctx/excl/crash",
			Summary: "One open creates the lock or fails, and one process may be killed.",
			Report:  fix, Source: exclSource,
			Setting: scenarios.Setting{Interchangeable: true, Processes: 2, Crashes: 1},
			Program: each(excl),
			Probe:   scenarios.Attempt(excl),
			Claims:  []scenarios.Claim{holds(me), broken(wedge)},
		},
		{
			ID:      "ctx/excl/body-fails",
			Summary: "The state file cannot be parsed, so every sync fails with the lock in hand.",
			Report:  fix, Source: exclSource,
			Setting: scenarios.Setting{Interchangeable: true, Processes: 2},
			Setup:   setup(statePath, "{corrupt"),
			Program: each(excl),
			Probe:   scenarios.Attempt(excl),
			Claims:  []scenarios.Claim{holds(wedge)},
		},
		{
			ID:      "ctx/excl-cursor/crash",
			Summary: "A sync may be killed; its lock is cleared by hand, when it surely runs no more, and sync run again.",
			Report:  fix, Source: cursorSource,
			Setting: scenarios.Setting{Processes: 2, Fixed: true, Crashes: 1, Mortal: []int{0}},
			Program: func(process, _ int) scenarios.Program {
				if process == 0 {
					return program(excl)
				}
				return func(t *scenarios.Task) { syncOrClear(t, scenarios.Pid(0)) }
			},
			Claims: []scenarios.Claim{broken(dup)},
		},
		{
			ID:      "ctx/pid-cleanup/contend",
			Summary: "The lock holds its owner's pid, and the lock of a dead pid is unlinked; an empty lock is a live one.",
			Report:  issue, Source: pidCleanupSource,
			Setting: scenarios.Setting{Processes: 2},
			Program: each(pidCleanup(false)),
			Claims:  []scenarios.Claim{holds(me)},
		},
		{
			ID:      "ctx/pid-cleanup/dead-owner",
			Summary: "The same, and the lock of a dead process lies there at the start.",
			Report:  issue, Source: pidCleanupSource,
			Setting: scenarios.Setting{Processes: 2},
			Setup:   setup(lockPath, strconv.Itoa(scenarios.DeadPid)),
			Program: each(pidCleanup(false)),
			Claims:  []scenarios.Claim{broken(me)},
		},
		{
			ID:      "ctx/pid-cleanup-empty-stale/contend",
			Summary: "The lock of a dead pid is unlinked, and so is one without a pid.",
			Report:  issue, Source: pidCleanupSource,
			Setting: scenarios.Setting{Processes: 2},
			Program: each(pidCleanup(true)),
			Claims:  []scenarios.Claim{broken(me)},
		},
		{
			ID:      "ctx/flock/crash",
			Summary: "A kernel lock on a file that is never removed, and one process may be killed.",
			Report:  issue, Source: flockSource,
			Setting: scenarios.Setting{Interchangeable: true, Processes: 3, Crashes: 1},
			Program: each(flock),
			Probe:   scenarios.Attempt(flock),
			Claims:  []scenarios.Claim{holds(me), holds(wedge)},
		},
	}
	for i := range list {
		s := &list[i]
		if s.Setup == nil {
			s.Setup = setup()
		}
		s.Watch = []string{lockPath, statePath, entryPath}
		if l, ok := locks[s.Variant()]; ok {
			s.Subject = &scenarios.Subject{ID: "ctx/" + s.Variant(), Lock: l, Setup: setup()}
		}
	}
	return list
}

// program is one sync under a lock.
func program(lock scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) { _ = sync(t, lock) }
}

// each lets every process run one sync under a lock.
func each(lock scenarios.Protocol) func(process, task int) scenarios.Program {
	return func(int, int) scenarios.Program { return program(lock) }
}

func holds(p *scenarios.Property) scenarios.Claim {
	return scenarios.Claim{Property: p, Verdict: scenarios.Holds}
}

func broken(p *scenarios.Property) scenarios.Claim {
	return scenarios.Claim{Property: p, Verdict: scenarios.Broken}
}
