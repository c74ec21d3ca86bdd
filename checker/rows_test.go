package checker

import (
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// rows are the scenarios that tests go through: all of them, but under the race
// detector, which takes ten times the time and the memory, some small ones of each
// kind. What it looks for does not depend on which.
func rows() []scenarios.Scenario {
	list := all.Core()
	if !raceDetector {
		return list
	}
	var out []scenarios.Scenario
	for _, sc := range list {
		switch {
		case strings.HasPrefix(sc.ID, "ctx/") && sc.Variant() != "flock",
			sc.ID == "openclaw-release/option-a/tasks", sc.ID == "openclaw-takeover/rename/dead-owner",
			sc.ID == "agentwire/truncating-open/contend", sc.ID == "gateguard/expiry-unlink/contend":
			out = append(out, sc)
		}
	}
	return out
}
