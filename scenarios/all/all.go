// Package all is the one list of the scenarios that lockpick brings along.
package all

import (
	"slices"

	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/scenarios/ctx"
	"lockpick/scenarios/gateguard"
	"lockpick/scenarios/openclawrelease"
	"lockpick/scenarios/openclawtakeover"
)

// All returns every scenario, system by system, in the order of reports.
func All() []scenarios.Scenario {
	return slices.Concat(
		ctx.Scenarios(),
		gateguard.Scenarios(),
		openclawrelease.Scenarios(),
		openclawtakeover.Scenarios(),
		agentwire.Scenarios(),
	)
}
