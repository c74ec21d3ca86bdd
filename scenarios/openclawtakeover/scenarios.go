package openclawtakeover

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

const (
	pull      = "https://github.com/openclaw/openclaw/pull/10283"
	gracePull = "https://github.com/openclaw/openclaw/pull/80686" // grace for locks without a text
	guardPull = "https://github.com/openclaw/fs-safe/pull/44"
)

// Scenarios lists the variants, each in its settings.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	alike := func(n, crashes int) scenarios.Setting { // whose pids are in texts and names alone
		return scenarios.Setting{Interchangeable: true, Processes: n, Crashes: crashes}
	}
	empty := row("empty-is-stale/contend",
		"A lock without a text counts as stale, and every lock is without a text at first.",
		gracePull, alike(2, 0), emptyIsStale(), kit.Broken(me), "remove.go")
	empty.Setup = noLock
	list := []scenarios.Scenario{
		row("rm-then-create/dead-owner",
			"A stale lock is removed by its path and created anew; another contender removes the new one.",
			pull, alike(2, 0), rmThenCreate(), kit.Broken(me), "remove.go"),
		empty,
		row("rename/dead-owner",
			"A stale lock is replaced by renaming a complete lock file onto it, and so is the lock of another "+
				"contender who did just that.",
			pull, alike(2, 0), rename(), kit.Broken(me, scenarios.ForeignRelease), "remove.go", "rename.go"),
		row("guarded/dead-owner",
			"A stale lock is removed only under a guard, after a second look that finds exactly the lock judged.",
			guardPull, alike(3, 0), guarded(), kit.Holds(me), "guarded.go"),
		row("guarded/crash",
			"Whoever reclaims the lock of a dead process may be killed, and leaves the guard for ever.",
			guardPull, alike(2, 1), guarded(), kit.Broken(scenarios.Wedge), "guarded.go"),
		row("flock/dead-owner",
			"A kernel lock on a file that nobody removes: a dead owner's file stands in nobody's way.",
			pull, alike(3, 0), kernelLock(), kit.Holds(me), "flock.go"),
	}
	for i := range list {
		if list[i].Variant() == "guarded" {
			list[i].Watch = append(list[i].Watch, guardPath)
		}
	}
	return list
}

// row is processes that each take the lock once, with a dead process's lock there.
func row(id, does, report string, st scenarios.Setting, l scenarios.Protocol, claims []scenarios.Claim,
	further ...string,
) scenarios.Scenario {
	return scenarios.Scenario{
		ID: "openclaw-takeover/" + id, Summary: does, Report: report, Setting: st, Claims: claims,
		Source:  kit.Text(files, append([]string{"steps.go"}, further...)...),
		Setup:   deadOwner,
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Probe:   scenarios.Attempt(l),
		Watch:   []string{lockPath},
	}
}

// noLock makes the sessions' directory; deadOwner puts the lock of a dead process in it.
func noLock(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(dir, 0o755) }

func deadOwner(m *fsfake.Machine) {
	noLock(m)
	m.SealImage()
	_ = m.Proc(1).WriteFile(lockPath, textOf(scenarios.DeadPid), 0o600)
}
