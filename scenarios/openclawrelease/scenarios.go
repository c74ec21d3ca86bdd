package openclawrelease

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

const (
	issue      = "https://github.com/openclaw/openclaw/issues/57019"
	ownProcess = "https://github.com/openclaw/openclaw/pull/32081" // introduced orphan-self
	fiveSecond = "https://github.com/openclaw/openclaw/pull/60015" // review describes in-flight
	joinPull   = "https://github.com/openclaw/openclaw/pull/15628"
)

// A variant is a session with what reports say of it.
type variant struct {
	name, summary, report, source string // source is a file
	session                       session
}

var variants = []variant{
	{
		"original", "Without start times: a release takes the lock out of HELD_LOCKS and then removes the file by its path; between the two the file looks like an orphan.",
		issue, "original.go", original(),
	},
	{
		"original-starttime", "With start times in the file no lock of a living process is ever taken for an orphan.",
		ownProcess, "original.go", originalStartTime(),
	},
	{
		"in-flight", "A lock enters HELD_LOCKS only after its text is written; until then another task takes it for an orphan.",
		fiveSecond, "inflight.go", inFlight(),
	},
	{
		"option-a", "Orphans are looked up in HELD_LOCKS and in a set of locks being released.",
		issue, "optiona.go", optionA(),
	},
	{
		"option-b-reentrant", "A lock leaves HELD_LOCKS after its file is removed; a task may still join it meanwhile.",
		issue, "optionb.go", optionBReentrant(),
	},
	{
		"option-b-join", "A lock leaves HELD_LOCKS after its file is removed; a task that comes meanwhile awaits the release.",
		joinPull, "optionb.go", optionBJoin(),
	},
	{
		"option-b-join-reread", "As option-b-join, and an orphan's text is read again after HELD_LOCKS was asked and before the file is removed.",
		issue, "optionb.go", optionBJoinReread(),
	},
}

// Scenarios lists the variants, each in its settings: process A with the tasks T1 and T2, alone or with process B.
func Scenarios() []scenarios.Scenario {
	alone, peer := []int{2}, []int{2, 1}
	me, foreign := scenarios.MutualExclusion, scenarios.ForeignRelease
	return []scenarios.Scenario{
		scenario("original", "tasks", alone, kit.Broken(foreign)),
		scenario("original", "tasks+peer", peer, kit.Broken(me)),
		scenario("original-starttime", "tasks+peer", peer, kit.Holds(me)),
		scenario("in-flight", "tasks", alone, kit.Broken(me)),
		scenario("option-a", "tasks", alone, kit.Holds(foreign)),
		scenario("option-a", "tasks+peer", peer, kit.Broken(me)),
		scenario("option-b-reentrant", "tasks", alone, kit.Broken(foreign)),
		scenario("option-b-reentrant", "tasks+peer", peer, kit.Broken(me)),
		scenario("option-b-join", "tasks", alone, kit.Holds(foreign)),
		scenario("option-b-join", "tasks+peer", peer, kit.Broken(me)),
		scenario("option-b-join-reread", "tasks+peer", peer, kit.Holds(me)),
	}
}

func scenario(name, setting string, tasks []int, claims []scenarios.Claim) scenarios.Scenario {
	va := find(name)
	protocol := va.session.protocol()
	return scenarios.Scenario{
		ID:      "openclaw-release/" + name + "/" + setting,
		Summary: va.summary,
		Report:  va.report,
		Source:  kit.Text(files, "session.go", va.source),
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
		Claims:  claims,
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
