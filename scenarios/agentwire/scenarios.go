package agentwire

import (
	_ "embed"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

//go:embed locking.go
var lockingSource string

//go:embed unlink.go
var unlinkSource string

//go:embed poll.go
var pollSource string

//go:embed commands.go
var commandsSource string

const (
	issue = "https://github.com/dotdevdotdev/agentwire-dev/issues/491"
	pull  = "https://github.com/dotdevdotdev/agentwire-dev/pull/508"
)

// Scenarios lists the variants, each in its settings.
func Scenarios() []scenarios.Scenario {
	return []scenarios.Scenario{
		blindUnlinkCrash(), blindUnlinkContend(), truncatingOpen(), probeByLocking(),
		gatedUnlink(), flockOnlyCrash(), flockOnlyCleaner(),
	}
}

func blindUnlinkCrash() scenarios.Scenario {
	s := blindUnlinkContend()
	s.ID = "agentwire/blind-unlink/crash"
	s.Setting.Crashes = 1
	return s
}

func blindUnlinkContend() scenarios.Scenario {
	s := contend("blind-unlink/contend", waitUnlinking, 3)
	s.Summary = "A waiter that finds the holder dead unlinks the lock file, which another run may have opened to lock it."
	s.Source = lockingSource + "\n" + unlinkSource
	s.Claims = claims(scenarios.MutualExclusion, scenarios.Broken)
	return s
}

func truncatingOpen() scenarios.Scenario {
	s := contend("truncating-open/contend", waitPolling, 2)
	s.Summary = "Whoever only wants the lock opens its file with truncation, which erases the holder's pid."
	s.Source = lockingSource + "\n" + pollSource + "\n" + commandsSource
	s.Setting.Fixed = true
	s.Program = roles(holdAndAsk, scenarios.Once(protocol(ensure)))
	s.Claims = claims(scenarios.OwnerInfo, scenarios.Broken)
	return s
}

func probeByLocking() scenarios.Scenario {
	s := contend("probe-by-locking/contend", ensure, 2)
	s.Summary = "The question whether a session is locked takes the lock for a moment, and a run that comes then fails."
	s.Source = lockingSource + "\n" + commandsSource
	s.Setting.Fixed = true
	s.Program = roles(probe, scenarios.Once(protocol(ensure)))
	s.Claims = claims(scenarios.SpuriousFailure, scenarios.Broken)
	return s
}

func gatedUnlink() scenarios.Scenario {
	s := contend("gated-unlink/contend", waitGated, 3)
	s.Summary = "A waiter unlinks the file of a dead holder only if nobody has the lock, as of a moment ago."
	s.Source = lockingSource + "\n" + unlinkSource
	s.Claims = claims(scenarios.MutualExclusion, scenarios.Broken)
	return s
}

func flockOnlyCrash() scenarios.Scenario {
	s := contend("flock-only/crash", waitPolling, 3)
	s.Summary = "A waiter polls the kernel lock and nobody unlinks the file."
	s.Report = pull
	s.Source = lockingSource + "\n" + pollSource
	s.Setting.Crashes = 1
	s.Claims = append(claims(scenarios.MutualExclusion, scenarios.Holds),
		claims(scenarios.Wedge, scenarios.Holds)...)
	return s
}

func flockOnlyCleaner() scenarios.Scenario {
	s := contend("flock-only/cleaner", waitPolling, 3)
	s.Summary = "Two runs with the merged fix, and process C runs \"lock clean\", which unlinks a lock file without a pid."
	s.Report = pull
	s.Source = lockingSource + "\n" + pollSource + "\n" + commandsSource
	run := scenarios.Once(protocol(waitPolling))
	s.Setting.Fixed = true
	s.Program = roles(run, run, clean)
	s.Claims = claims(scenarios.MutualExclusion, scenarios.Broken)
	return s
}

// contend is n runs, each after the lock once.
func contend(id string, acquire func(t *scenarios.Task) (scenarios.Hold, error), n int) scenarios.Scenario {
	l := protocol(acquire)
	return scenarios.Scenario{
		ID:      "agentwire/" + id,
		Report:  issue,
		Setting: scenarios.Setting{Processes: n},
		Setup:   func(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(dir, 0o755) },
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Probe:   scenarios.Attempt(l),
		Watch:   []string{lockPath},
	}
}

// roles gives process A the first program, B the second, and so on.
func roles(programs ...scenarios.Program) func(process, task int) scenarios.Program {
	return func(process, _ int) scenarios.Program { return programs[process] }
}

func claims(p *scenarios.Property, v scenarios.Verdict) []scenarios.Claim {
	return []scenarios.Claim{{Property: p, Verdict: v}}
}
