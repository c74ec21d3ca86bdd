package openclawrelease

import (
	_ "embed"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

//go:embed session.go
var sessionSource string

//go:embed original.go
var originalSource string

//go:embed inflight.go
var inFlightSource string

//go:embed optiona.go
var optionASource string

//go:embed optionb.go
var optionBSource string

const (
	issue      = "https://github.com/openclaw/openclaw/issues/57019"
	ownProcess = "https://github.com/openclaw/openclaw/pull/32081" // introduced orphan-self
	fiveSecond = "https://github.com/openclaw/openclaw/pull/60015" // review describes in-flight
	joinPull   = "https://github.com/openclaw/openclaw/pull/15628"
)

// A variant is a session with what reports say of it.
type variant struct {
	name, summary, report, source string
	session                       session
}

var variants = []variant{
	{
		"original", "Without start times: a release takes the lock out of HELD_LOCKS and then removes the file by its path; between the two the file looks like an orphan.",
		issue, originalSource, original(),
	},
	{
		"original-starttime", "With start times in the file no lock of a living process is ever taken for an orphan.",
		ownProcess, originalSource, originalStartTime(),
	},
	{
		"in-flight", "A lock enters HELD_LOCKS only after its text is written; until then another task takes it for an orphan.",
		fiveSecond, inFlightSource, inFlight(),
	},
	{
		"option-a", "Orphans are looked up in HELD_LOCKS and in a set of locks being released.",
		issue, optionASource, optionA(),
	},
	{
		"option-b-reentrant", "A lock leaves HELD_LOCKS after its file is removed; a task may still join it meanwhile.",
		issue, optionBSource, optionBReentrant(),
	},
	{
		"option-b-join", "A lock leaves HELD_LOCKS after its file is removed; a task that comes meanwhile awaits the release.",
		joinPull, optionBSource, optionBJoin(),
	},
	{
		"option-b-join-reread", "As option-b-join, and an orphan's text is read again after HELD_LOCKS was asked and before the file is removed.",
		issue, optionBSource, optionBJoinReread(),
	},
}

// Scenarios lists the variants, each in its settings.
func Scenarios() []scenarios.Scenario {
	const (
		holds  = scenarios.Holds
		broken = scenarios.Broken
	)
	exclusion, foreign := scenarios.MutualExclusion, scenarios.ForeignRelease
	return []scenarios.Scenario{
		tasks("original", foreign, broken),
		tasksAndPeer("original", exclusion, broken),
		tasksAndPeer("original-starttime", exclusion, holds),
		tasks("in-flight", exclusion, broken),
		tasks("option-a", foreign, holds),
		tasksAndPeer("option-a", exclusion, broken),
		tasks("option-b-reentrant", foreign, broken),
		tasksAndPeer("option-b-reentrant", exclusion, broken),
		tasks("option-b-join", foreign, holds),
		tasksAndPeer("option-b-join", exclusion, broken),
		tasksAndPeer("option-b-join-reread", exclusion, holds),
	}
}

// tasks: process A with the tasks T1 and T2.
func tasks(name string, p *scenarios.Property, v scenarios.Verdict) scenarios.Scenario {
	return scenario(name, "tasks", []int{2}, p, v)
}

// tasksAndPeer: process A with the tasks T1 and T2, and process B.
func tasksAndPeer(name string, p *scenarios.Property, v scenarios.Verdict) scenarios.Scenario {
	return scenario(name, "tasks+peer", []int{2, 1}, p, v)
}

func scenario(name, setting string, tasks []int, p *scenarios.Property, v scenarios.Verdict) scenarios.Scenario {
	va := find(name)
	protocol := va.session.protocol()
	return scenarios.Scenario{
		ID:      "openclaw-release/" + name + "/" + setting,
		Summary: va.summary,
		Report:  va.report,
		Source:  sessionSource + "\n" + va.source,
		Setting: scenarios.Setting{
			Processes:   len(tasks),
			Tasks:       tasks,
			Daemons:     true,
			Concurrency: scenarios.EventLoop,
		},
		Setup:   setup,
		Program: func(int, int) scenarios.Program { return scenarios.Once(protocol) },
		Probe:   scenarios.Attempt(protocol),
		Watch:   []string{lockPath},
		Claims:  []scenarios.Claim{{Property: p, Verdict: v}},
	}
}

func find(name string) variant {
	for _, v := range variants {
		if v.name == name {
			return v
		}
	}
	panic("openclawrelease: no variant " + name)
}

// setup makes the sessions' directory.
func setup(m *fsfake.Machine) { _ = m.Proc(1).MkdirAll(dir, 0o755) }
