package checker

import (
	"slices"

	"lockpick/scenarios"
)

// unjudged lists the locks of which "p holds" says nothing although others of the scenario gave
// evidence, each with what is missing: "/b: nobody ever acquired".
func unjudged(p *scenarios.Property, facts []scenarios.Fact) []string {
	if !p.Evidence.ByLock || p.Evidence.Lacks == nil {
		return nil
	}
	var out []string
	for _, lock := range locksIn(facts) {
		own := slices.DeleteFunc(slices.Clone(facts),
			func(f scenarios.Fact) bool { return f.About != lock && f.About != "" })
		if lacks := p.Lacks(own); lacks != "" {
			out = append(out, lock+": "+lacks)
		}
	}
	return out
}

// locksIn lists what facts are about, if that is more than one.
func locksIn(facts []scenarios.Fact) []string {
	var out []string
	for _, f := range facts {
		if f.About != "" {
			out = append(out, f.About)
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) < 2 {
		return nil
	}
	return out
}
