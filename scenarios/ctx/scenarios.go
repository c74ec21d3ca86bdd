package ctx

import (
	"strconv"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
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
	alike := func(n, crashes int) scenarios.Setting {
		return scenarios.Setting{Interchangeable: true, Processes: n, Crashes: crashes}
	}
	two := scenarios.Setting{Processes: 2}
	cursor := row("excl-cursor/crash",
		"A sync may be killed; its lock is cleared by hand, when it surely runs no more, and sync run again.",
		fix, "cursor.go", scenarios.Setting{Processes: 2, Fixed: true, Crashes: 1, Mortal: []int{0}}, excl,
		kit.Broken(dup))
	cursor.Program = func(process, _ int) scenarios.Program {
		if process == 0 {
			return program(excl)
		}
		return func(t *scenarios.Task) { syncOrClear(t, scenarios.Pid(0)) }
	}
	fails := row("excl/body-fails", "The state file cannot be parsed, so every sync fails with the lock in hand.",
		fix, "excl.go", alike(2, 0), excl, kit.Holds(wedge))
	fails.Setup = setup(statePath, "{corrupt")
	dead := row("pid-cleanup/dead-owner", "The same, and the lock of a dead process lies there at the start.",
		issue, "pidcleanup.go", two, pidCleanup(false), kit.Broken(me))
	dead.Setup = setup(lockPath, strconv.Itoa(scenarios.DeadPid))
	return []scenarios.Scenario{
		row("stat-then-write/contend", "A stat finds no lock, and then the lock is written: two calls.",
			issue, "statthenwrite.go", alike(2, 0), statThenWrite, kit.Broken(me, dup)),
		row("excl/contend", "One open creates the lock or fails.",
			fix, "excl.go", alike(3, 0), excl, kit.Holds(me, dup)),
		row("excl/crash", "One open creates the lock or fails, and one process may be killed.",
			fix, "excl.go", alike(2, 1), excl, append(kit.Holds(me), kit.Broken(wedge)...)),
		fails,
		cursor,
		row("pid-cleanup/contend",
			"The lock holds its owner's pid, and the lock of a dead pid is unlinked; an empty lock is a live one.",
			issue, "pidcleanup.go", two, pidCleanup(false), kit.Holds(me)),
		dead,
		row("pid-cleanup-empty-stale/contend", "The lock of a dead pid is unlinked, and so is one without a pid.",
			issue, "pidcleanup.go", two, pidCleanup(true), kit.Broken(me)),
		row("flock/crash", "A kernel lock on a file that is never removed, and one process may be killed.",
			issue, "flock.go", alike(3, 1), flock, kit.Holds(me, wedge)),
	}
}

// row is a variant in a situation: every process runs one sync under a lock, and is probed where a claim asks that.
func row(id, does, report, source string, st scenarios.Setting, l scenarios.Protocol,
	claims []scenarios.Claim,
) scenarios.Scenario {
	sc := scenarios.Scenario{
		ID: "ctx/" + id, Summary: does, Report: report, Source: kit.Text(files, source), Setting: st, Claims: claims,
		Setup: setup(), Watch: []string{lockPath, statePath, entryPath},
		Program: func(int, int) scenarios.Program { return program(l) },
	}
	if _, asked := sc.Claim(scenarios.Wedge); asked {
		sc.Probe = scenarios.Attempt(l)
	}
	if l, ok := locks[sc.Variant()]; ok {
		sc.Subject = &scenarios.Subject{ID: "ctx/" + sc.Variant(), Lock: l, Setup: setup()}
	}
	return sc
}

// program is one sync under a lock.
func program(lock scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) { _ = sync(t, lock) }
}
