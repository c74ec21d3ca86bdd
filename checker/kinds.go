package checker

import (
	"context"
	"slices"

	"lockpick/scenarios"
)

// Of violations of several kinds the worst is shown, or that of [Options.Kind], and one of each other kind beside it.

// first is the kind that is shown if there is one; [scenarios.NoKind] where kinds are not told apart.
func (g *decision) first() scenarios.Kind {
	switch {
	case g.t.Property.Kind == nil:
		return scenarios.NoKind
	case g.o.Kind != scenarios.NoKind:
		return g.o.Kind
	}
	return scenarios.Lost
}

// compare orders kinds as they are shown.
func (g *decision) compare(a, b scenarios.Kind) int {
	switch first := g.first(); {
	case a == b:
		return 0
	case a.Before(b, first):
		return -1
	}
	return 1
}

// has reports whether a counterexample of a kind was found.
func (g *decision) has(kind scenarios.Kind) bool {
	return slices.ContainsFunc(g.found, func(f *found) bool { return f.Kind == kind })
}

// findAll finds a counterexample of each kind that was seen. Those of kinds that were found before stay: they
// are as small as any.
func (g *decision) findAll(ctx context.Context) error {
	missing := len(g.found) == 0
	for _, kind := range g.c.Kinds() {
		missing = missing || !g.has(kind)
	}
	if !missing {
		return nil
	}
	all, err := g.find(ctx)
	for _, f := range g.found {
		if !slices.ContainsFunc(all, func(a *found) bool { return a.Kind == f.Kind }) {
			all = append(all, f)
		}
	}
	g.found = all
	slices.SortFunc(g.found, func(a, b *found) int { return g.compare(a.Kind, b.Kind) })
	return err
}
