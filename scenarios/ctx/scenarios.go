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
	alike := func(n, crashes int) scenarios.Setting {
		return scenarios.Setting{Interchangeable: true, Processes: n, Crashes: crashes}
	}
	two := scenarios.Setting{Processes: 2}
	cursor := row("excl-cursor/crash",
		"A sync may be killed; its lock is cleared by hand, when it surely runs no more, and sync run again.",
		fix, cursorSource, scenarios.Setting{Processes: 2, Fixed: true, Crashes: 1, Mortal: []int{0}}, excl,
		broken(dup))
	cursor.Program = func(process, _ int) scenarios.Program {
		if process == 0 {
			return program(excl)
		}
		return func(t *scenarios.Task) { syncOrClear(t, scenarios.Pid(0)) }
	}
	fails := row("excl/body-fails", "The state file cannot be parsed, so every sync fails with the lock in hand.",
		fix, exclSource, alike(2, 0), excl, holds(wedge))
	fails.Setup = setup(statePath, "{corrupt")
	dead := row("pid-cleanup/dead-owner", "The same, and the lock of a dead process lies there at the start.",
		issue, pidCleanupSource, two, pidCleanup(false), broken(me))
	dead.Setup = setup(lockPath, strconv.Itoa(scenarios.DeadPid))
	return []scenarios.Scenario{
		row("stat-then-write/contend", "A stat finds no lock, and then the lock is written: two calls.",
			issue, statThenWriteSource, alike(2, 0), statThenWrite, broken(me), broken(dup)),
		row("excl/contend", "One open creates the lock or fails.",
			fix, exclSource, alike(3, 0), excl, holds(me), holds(dup)),
		row("excl/crash", "One open creates the lock or fails, and one process may be killed.",
			fix, exclSource, alike(2, 1), excl, holds(me), broken(wedge)),
		fails,
		cursor,
		row("pid-cleanup/contend",
			"The lock holds its owner's pid, and the lock of a dead pid is unlinked; an empty lock is a live one.",
			issue, pidCleanupSource, two, pidCleanup(false), holds(me)),
		dead,
		row("pid-cleanup-empty-stale/contend", "The lock of a dead pid is unlinked, and so is one without a pid.",
			issue, pidCleanupSource, two, pidCleanup(true), broken(me)),
		row("flock/crash", "A kernel lock on a file that is never removed, and one process may be killed.",
			issue, flockSource, alike(3, 1), flock, holds(me), holds(wedge)),
	}
}

// row is a variant in a situation: every process runs one sync under a lock, and is probed where a claim asks that.
func row(id, does, report, source string, st scenarios.Setting, l scenarios.Protocol,
	claims ...scenarios.Claim,
) scenarios.Scenario {
	sc := scenarios.Scenario{
		ID: "ctx/" + id, Summary: does, Report: report, Source: source, Setting: st, Claims: claims,
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

func holds(p *scenarios.Property) scenarios.Claim {
	return scenarios.Claim{Property: p, Verdict: scenarios.Holds}
}

func broken(p *scenarios.Property) scenarios.Claim {
	return scenarios.Claim{Property: p, Verdict: scenarios.Broken}
}
