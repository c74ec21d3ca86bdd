// Package all is the one list of the scenarios that lockpick brings along.
package all

import (
	"slices"
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/scenarios/aside"
	"lockpick/scenarios/ctx"
	"lockpick/scenarios/datafile"
	"lockpick/scenarios/flockfile"
	"lockpick/scenarios/gateguard"
	"lockpick/scenarios/kernelfile"
	"lockpick/scenarios/openclawrelease"
	"lockpick/scenarios/openclawtakeover"
	"lockpick/scenarios/pidfile"
	"lockpick/scenarios/reclaim"
)

// All returns every scenario: the core, and then the corpus.
func All() []scenarios.Scenario { return append(Core(), Corpus()...) }

// Core returns the scenarios of the five reported systems, system by system, in the order
// of reports. They are what is decided when nothing is chosen.
func Core() []scenarios.Scenario {
	return enter(slices.Concat(
		ctx.Scenarios(),
		gateguard.Scenarios(),
		openclawrelease.Scenarios(),
		openclawtakeover.Scenarios(),
		agentwire.Scenarios(),
	))
}

// Corpus returns the scenarios of lock protocols in use, system by system, in the order of names, and then those of the
// families that came later. Each is marked as a part of the corpus.
func Corpus() []scenarios.Scenario {
	list := slices.Concat(datafile.Scenarios(), flockfile.Scenarios(), pidfile.Scenarios())
	slices.SortStableFunc(list, func(a, b scenarios.Scenario) int { return strings.Compare(a.System(), b.System()) })
	list = slices.Concat(list, aside.Scenarios(), kernelfile.Scenarios(), reclaim.Scenarios())
	for i := range list {
		list[i].Corpus = true
	}
	return enter(list)
}
