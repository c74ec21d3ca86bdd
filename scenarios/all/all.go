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

// hazardOf says which hazard a setting's name is about, where the setting itself does not
// show it: what lies there at the start, who comes late, what a name means.
var hazardOf = map[string]string{
	"dead-owner":   scenarios.HazardDeadOwner,
	"moved-aside":  scenarios.HazardDeadOwner,
	"unlockers":    scenarios.HazardDeadOwner,
	"ext4":         scenarios.HazardFileSystem,
	"exits":        scenarios.HazardExit,
	"late-release": scenarios.HazardStall,
	"late-renewal": scenarios.HazardStall,
	"late-exit":    scenarios.HazardStall,
	"recycled-pid": scenarios.HazardPidReuse,
	"fork":         scenarios.HazardContention,
	"containers":   scenarios.HazardPidNamespace,
	"users":        scenarios.HazardPidNamespace,
	"spawn":        scenarios.HazardExit,
	"renamed-host": scenarios.HazardHostName,
	"two-hosts":    scenarios.HazardHostName,
}

// enter fills in where each scenario stands in the catalogue.
func enter(list []scenarios.Scenario) []scenarios.Scenario {
	shape, c := map[string]string{}, catalogue()
	for _, s := range c.Shapes {
		for _, v := range s.Variants {
			shape[v] = s.ID
		}
	}
	for i := range list {
		sc := &list[i]
		sc.Entry = scenarios.Entry{
			Shape:    shape[sc.System()+"/"+sc.Variant()],
			Hazard:   hazardOf[sc.SettingName()],
			Projects: c.Projects[sc.System()],
		}
	}
	return list
}
