package site

import (
	"strings"

	"lockpick/checker"
)

// A fix is a variant of the same system that holds where a scenario is broken.
type fix struct{ Property, Name, Link string }

// newFix finds the variant that holds: in the same situation if there is one, and with a
// source of its own. It is nil when nothing of the scenario is broken, or no variant holds.
func newFix(sys *system, w *row) *fix {
	for _, r := range w.Results {
		if r.Verdict != checker.Broken {
			continue
		}
		var best *row
		for _, other := range sys.Rows {
			have := other.Results.Of(r.Property)
			if have == nil || have.Verdict != checker.Holds || other.Scenario.Variant() == w.Scenario.Variant() {
				continue
			}
			if best == nil || likeness(w, other) > likeness(w, best) {
				best = other
			}
		}
		if best == nil {
			continue
		}
		return &fix{Property: r.Property.ID, Name: best.Name(), Link: strings.TrimPrefix(best.File, "scenarios/")}
	}
	return nil
}

// likeness says how well a variant compares with a scenario: one in the same situation, and one
// that is written in a file of its own, says more.
func likeness(w, other *row) int {
	n := 0
	if other.Scenario.SettingName() == w.Scenario.SettingName() {
		n += 2
	}
	if other.Scenario.Source != w.Scenario.Source {
		n++
	}
	return n
}
