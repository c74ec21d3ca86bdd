package site

import (
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A fix is a variant of the same system that holds where a scenario is broken, with the
// sources of both side by side.
type fix struct {
	Property, Name, Link string
	// Broken and Fixed are the lines of the two sources; empty when they do not differ.
	Broken, Fixed []sideLine
	// Shared: both are the same functions, and marked is what only one of them calls.
	Shared bool
}

// A sideLine is one line of a source; Changed when the other has none like it there. Left is, of
// a line that stands for lines which are the same in both, how many they are.
type sideLine struct {
	Text    string
	Changed bool
	Left    int
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
		f := &fix{Property: r.Property.ID, Name: best.Name(), Link: strings.TrimPrefix(best.File, "scenarios/")}
		f.Broken, f.Fixed = sources(w.Scenario, best.Scenario, r.Property)
		f.Shared = slices.EqualFunc(f.Broken, f.Fixed, func(a, b sideLine) bool { return a.Text == b.Text })
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

// sources shows what is different in two protocols: the functions that make their calls, when
// both stand in one file, or else what differs in their files; none when nothing does.
func sources(broken, holds *scenarios.Scenario, p *scenarios.Property) (left, right []sideLine) {
	a, b := lines(broken.Source), lines(holds.Source)
	if broken.Source == holds.Source {
		var callsA, callsB []bool
		a, callsA = madeIn(broken, p)
		b, callsB = madeIn(holds, p)
		if slices.Equal(a, b) {
			return callsBeside(a, callsA, callsB)
		}
	}
	if len(a) == 0 || len(b) == 0 || slices.Equal(a, b) {
		return nil, nil
	}
	return folded(sideBySide(a, b))
}

// callsBeside marks, in functions that two protocols share, the lines that make calls in one of
// them only; none when there are no such lines.
func callsBeside(text []string, callsA, callsB []bool) (left, right []sideLine) {
	if slices.Equal(callsA, callsB) {
		return nil, nil
	}
	for i := range text {
		left = append(left, sideLine{Text: text[i], Changed: callsA[i] && !callsB[i]})
		right = append(right, sideLine{Text: text[i], Changed: callsB[i] && !callsA[i]})
	}
	return left, right
}

// lines are the lines of a source, without package clauses and imports.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	var out []string
	within := false
	for _, l := range strings.Split(strings.TrimRight(visibleSource(text), "\n"), "\n") {
		switch {
		case strings.HasPrefix(l, "import ("):
			within = true
		case within:
			within = l != ")"
		case strings.HasPrefix(l, "package "), strings.HasPrefix(l, "import "):
		case l == "" && (len(out) == 0 || out[len(out)-1] == ""):
		default:
			out = append(out, l)
		}
	}
	return out
}

// around is how many lines that are the same are shown beside those that differ.
const around = 3

// folded leaves out long stretches that are the same on both sides.
func folded(left, right []sideLine) (l, r []sideLine) {
	for i, k := 0, 0; i < len(left) || k < len(right); {
		from := i
		for i < len(left) && k < len(right) && !left[i].Changed && !right[k].Changed {
			i, k = i+1, k+1
		}
		first, last := from == 0, i == len(left) && k == len(right)
		stretch := foldedStretch(left[from:i], first, last)
		l, r = append(l, stretch...), append(r, stretch...)
		for ; i < len(left) && left[i].Changed; i++ {
			l = append(l, left[i])
		}
		for ; k < len(right) && right[k].Changed; k++ {
			r = append(r, right[k])
		}
	}
	return l, r
}

// foldedStretch leaves out the middle of lines that are the same, and of the first and the last
// stretch what is far from a difference.
func foldedStretch(same []sideLine, first, last bool) []sideLine {
	before, after := around, around
	if first {
		before = 0
	}
	if last {
		after = 0
	}
	left := len(same) - before - after
	if left < 2 {
		return same
	}
	out := append(slices.Clone(same[:before]), sideLine{Left: left})
	return append(out, same[len(same)-after:]...)
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
			left, right = append(left, sideLine{Text: a[i]}), append(right, sideLine{Text: b[k]})
			i, k = i+1, k+1
		case k == len(b) || i < len(a) && common[i+1][k] >= common[i][k+1]:
			left = append(left, sideLine{Text: a[i], Changed: true})
			i++
		default:
			right = append(right, sideLine{Text: b[k], Changed: true})
			k++
		}
	}
	return left, right
}
