package site

import (
	"strings"

	"lockpick/checker"
)

// A fix is a variant of the same system that holds where a scenario is broken, with the
// sources of both side by side.
type fix struct {
	Property, Name, Link string
	// Broken and Fixed are the lines of the two sources; empty when they are one file.
	Broken, Fixed []sideLine
}

// A sideLine is one line of a source; Changed when the other has none like it there.
type sideLine struct {
	Text    string
	Changed bool
}

// newFix finds the variant that holds: in the same situation if there is one, and with a
// source of its own. It is nil when nothing of the scenario is broken, or no variant holds.
func newFix(sys *system, w *row) *fix {
	for _, r := range w.Results {
		if r.Verdict != checker.Broken {
			continue
		}
		var best *row
		for _, other := range sys.Rows {
			have := other.of(r.Property)
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
		f := &fix{Property: r.Property.ID, Name: best.Name(), Link: strings.TrimPrefix(best.File, "scenarios/")}
		if a, b := w.Scenario.Source, best.Scenario.Source; a != b && a != "" && b != "" {
			f.Broken, f.Fixed = sideBySide(lines(a), lines(b))
		}
		return f
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

func lines(text string) []string {
	return strings.Split(strings.TrimRight(visibleSource(text), "\n"), "\n")
}

// sideBySide marks the lines that are not part of a longest common subsequence of both.
func sideBySide(a, b []string) (left, right []sideLine) {
	common := make([][]int, len(a)+1) // of the lines from i and from k on
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for k := len(b) - 1; k >= 0; k-- {
			if a[i] == b[k] {
				common[i][k] = common[i+1][k+1] + 1
			} else {
				common[i][k] = max(common[i+1][k], common[i][k+1])
			}
		}
	}
	i, k := 0, 0
	for i < len(a) || k < len(b) {
		switch {
		case i < len(a) && k < len(b) && a[i] == b[k]:
			left, right = append(left, sideLine{a[i], false}), append(right, sideLine{b[k], false})
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && common[i+1][k] >= common[i][k+1]:
			left = append(left, sideLine{a[i], true})
			i++
		default:
			right = append(right, sideLine{b[k], true})
			k++
		}
	}
	return left, right
}
