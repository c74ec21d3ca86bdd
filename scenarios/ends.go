package scenarios

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/numbers"
)

// What is asked when everybody has ended: who gets in within a time, and what is left.

const wedgeWithin = "wedge-within-"

// WedgeWithin is [Wedge] with a bound: when everybody has finished or died, or goes on for ever in
// vain, a fresh process that keeps trying is not kept out for longer than d. It tries until the
// time d is over, and once more then; what it does from there to its next sleep, or to the next round
// of a retry loop, still counts. d is from a millisecond to [Horizon]; its id has it, as in "wedge-within-10m".
func WedgeWithin(d time.Duration) *Property {
	within := inOneUnit(d)
	return &Property{
		ID:        wedgeWithin + within,
		Meaning:   "When everybody has finished or died, or goes on for ever in vain, a fresh process is kept out for no longer than " + within + ".",
		Question:  LockedOut,
		Within:    d,
		Symmetric: true,
		Tell: func(v Violation) string {
			return cmp.Or(v.Said, "every process has ended or died, and nobody can acquire within "+within)
		},
	}
}

// inOneUnit writes a time as a whole number of one unit, which an id can have: "90m".
func inOneUnit(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if d%u.unit == 0 {
			return fmt.Sprintf("%d%s", d/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%dns", d)
}

// A Remainder knows what may be on the disk when everybody has ended.
type Remainder struct {
	there map[string]bool
	keeps []string
}

// Remainder returns what may be on the disk of a machine of the scenario in the end; start is one
// on which nobody has made a step.
func (s *Scenario) Remainder(start *fsfake.Machine) *Remainder {
	r := &Remainder{there: map[string]bool{}, keeps: s.Keeps}
	for _, n := range start.Tree() {
		r.there[n.Path] = true
	}
	return r
}

// Left lists the names on a machine's disk that should not be there, in order. What stands in a
// directory that should not be there is not listed beside it.
func (r *Remainder) Left(m *fsfake.Machine) []string {
	var out []string
	for _, n := range m.Tree() {
		inside := len(out) > 0 && strings.HasPrefix(n.Path, out[len(out)-1]+"/")
		if !r.there[n.Path] && !inside && !matches(r.keeps, n.Path) {
			out = append(out, n.Path)
		}
	}
	return out
}

// matches reports whether one of some patterns matches a name.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, name)
		return ok
	})
}

// LeftText says what is left behind: "everybody has ended, and /run/x is still there"; "" for nothing.
func LeftText(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "everybody has ended, and " + names[0] + " is still there"
	}
	return "everybody has ended, and " + numbers.List(names) + " are still there"
}

// validatePatterns reports a pattern that cannot be read, or nil.
func (s *Scenario) validatePatterns() error {
	for i, pattern := range slices.Concat(s.Keeps, s.Data) {
		if _, err := path.Match(pattern, ""); err != nil || !path.IsAbs(pattern) {
			field := "Keeps"
			if i >= len(s.Keeps) {
				field = "Data"
			}
			return fmt.Errorf("scenarios: scenario %q: %s has %q: give a pattern of absolute paths, as path.Match reads them",
				s.ID, field, pattern)
		}
	}
	return nil
}

// IsData reports whether [Atomic] and [Durable] judge what stands at an absolute path.
func (s *Scenario) IsData(name string) bool { return len(s.Data) == 0 || matches(s.Data, name) }
