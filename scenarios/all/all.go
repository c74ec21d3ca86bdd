// Package all is the one list of the scenarios that lockpick brings along.
package all

import (
	"slices"

	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/scenarios/ctx"
	"lockpick/scenarios/gateguard"
	"lockpick/scenarios/gitgcpid"
	"lockpick/scenarios/gitlockfile"
	"lockpick/scenarios/gofrsflock"
	"lockpick/scenarios/nightlyone"
	"lockpick/scenarios/npmcli"
	"lockpick/scenarios/npmlockfile"
	"lockpick/scenarios/openclawrelease"
	"lockpick/scenarios/openclawtakeover"
	"lockpick/scenarios/portalocker"
	"lockpick/scenarios/properlockfile"
)

// All returns every scenario: the core, and then the corpus.
func All() []scenarios.Scenario { return append(Core(), Corpus()...) }

// Core returns the scenarios of the five reported systems, system by system, in the order
// of reports. They are what is decided when nothing is chosen.
func Core() []scenarios.Scenario {
	return slices.Concat(
		ctx.Scenarios(),
		gateguard.Scenarios(),
		openclawrelease.Scenarios(),
		openclawtakeover.Scenarios(),
		agentwire.Scenarios(),
	)
}

// Corpus returns the scenarios of lock protocols in use, system by system, in the order
// of names. Each is marked as a part of the corpus.
func Corpus() []scenarios.Scenario {
	list := slices.Concat(
		gitgcpid.Scenarios(),
		gitlockfile.Scenarios(),
		gofrsflock.Scenarios(),
		nightlyone.Scenarios(),
		npmcli.Scenarios(),
		npmlockfile.Scenarios(),
		portalocker.Scenarios(),
		properlockfile.Scenarios(),
	)
	for i := range list {
		list[i].Corpus = true
	}
	return list
}
