package openclawtakeover

import (
	_ "embed"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

//go:embed steps.go
var stepsSource string

//go:embed remove.go
var removeSource string

//go:embed rename.go
var renameSource string

//go:embed guarded.go
var guardedSource string

//go:embed flock.go
var flockSource string

const (
	pull      = "https://github.com/openclaw/openclaw/pull/10283"
	gracePull = "https://github.com/openclaw/openclaw/pull/80686" // grace for locks without a text
	guardPull = "https://github.com/openclaw/fs-safe/pull/44"
)

// Scenarios lists the variants, each in its settings.
func Scenarios() []scenarios.Scenario {
	rmCreate := scenario("rm-then-create/dead-owner", rmThenCreate(), 2)
	rmCreate.Summary = "A stale lock is removed by its path and created anew; another contender removes the new one."
	rmCreate.Report = pull
	rmCreate.Source = stepsSource + "\n" + removeSource
	rmCreate.Claims = claims(scenarios.MutualExclusion, scenarios.Broken)

	empty := scenario("empty-is-stale/contend", emptyIsStale(), 2)
	empty.Summary = "A lock without a text counts as stale, and every lock is without a text at first."
	empty.Report = gracePull
	empty.Source = stepsSource + "\n" + removeSource
	empty.Setup = noLock
	empty.Claims = claims(scenarios.MutualExclusion, scenarios.Broken)

	ren := scenario("rename/dead-owner", rename(), 2)
	ren.Summary = "A stale lock is replaced by renaming a complete lock file onto it, and so is the lock of another contender who did just that."
	ren.Report = pull
	ren.Source = stepsSource + "\n" + removeSource + "\n" + renameSource
	ren.Claims = append(claims(scenarios.MutualExclusion, scenarios.Broken),
		claims(scenarios.ForeignRelease, scenarios.Broken)...)

	guard := scenario("guarded/dead-owner", guarded(), 3)
	guard.Summary = "A stale lock is removed only under a guard, after a second look that finds exactly the lock judged."
	guard.Report = guardPull
	guard.Watch = append(guard.Watch, guardPath)
	guard.Source = stepsSource + "\n" + guardedSource
	guard.Claims = claims(scenarios.MutualExclusion, scenarios.Holds)

	guardCrash := scenario("guarded/crash", guarded(), 2)
	guardCrash.Summary = "Whoever reclaims the lock of a dead process may be killed, and leaves the guard for ever."
	guardCrash.Report = guardPull
	guardCrash.Watch = guard.Watch
	guardCrash.Source = guard.Source
	guardCrash.Setting.Crashes = 1
	guardCrash.Claims = claims(scenarios.Wedge, scenarios.Broken)

	kernel := scenario("flock/dead-owner", kernelLock(), 3)
	kernel.Summary = "A kernel lock on a file that nobody removes: a dead owner's file stands in nobody's way."
	kernel.Report = pull
	kernel.Source = stepsSource + "\n" + flockSource
	kernel.Claims = claims(scenarios.MutualExclusion, scenarios.Holds)

	return []scenarios.Scenario{rmCreate, empty, ren, guard, guardCrash, kernel}
}

// scenario is n processes, each after the lock once, with a dead process's lock there.
func scenario(id string, l scenarios.Protocol, n int) scenarios.Scenario {
	return scenarios.Scenario{
		ID:      "openclaw-takeover/" + id,
		Setting: scenarios.Setting{Processes: n, Interchangeable: true}, // whose pids are in texts and names alone
		Setup:   deadOwner,
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Probe:   scenarios.Attempt(l),
		Watch:   []string{lockPath},
	}
}

func claims(p *scenarios.Property, v scenarios.Verdict) []scenarios.Claim {
	return []scenarios.Claim{{Property: p, Verdict: v}}
}

// noLock makes the sessions' directory; deadOwner puts the lock of a dead process in it.
func noLock(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(dir, 0o755) }

func deadOwner(m *fsfake.Machine) {
	noLock(m)
	_ = m.Proc(1).WriteFile(lockPath, textOf(scenarios.DeadPid), 0o600)
}
