package sched

import (
	"fmt"
	"strings"
)

// A Drawing is a kind of strategy that draws schedules, each run under a seed of its own.
type Drawing struct {
	// Name is how one asks for it: "pct".
	Name string
	// Depth says that it looks for bugs of a depth, and has to know how long a run is.
	Depth bool
	// New returns the strategy of one run. steps and depth, both 1 or more, are for
	// those with Depth.
	New func(seed uint64, steps, depth int) Strategy
}

// Drawings lists the kinds of strategy that draw. The first is the default.
func Drawings() []Drawing {
	return []Drawing{
		{Name: "random", New: func(seed uint64, _, _ int) Strategy { return NewRandom(seed) }},
		{Name: "pct", Depth: true, New: func(seed uint64, steps, depth int) Strategy { return NewPCT(seed, steps, depth) }},
	}
}

// DrawingNames lists the names of [Drawings].
func DrawingNames() []string {
	var out []string
	for _, d := range Drawings() {
		out = append(out, d.Name)
	}
	return out
}

// FindDrawing returns the drawing with a name, the first one for "", or an error that
// names all.
func FindDrawing(name string) (Drawing, error) {
	for _, d := range Drawings() {
		if d.Name == name || name == "" {
			return d, nil
		}
	}
	return Drawing{}, fmt.Errorf("sched: unknown strategy %q: choose %s", name, strings.Join(DrawingNames(), " or "))
}
