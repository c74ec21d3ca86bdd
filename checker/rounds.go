package checker

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/search"
)

// A real program that polls takes another path for each sequence of rounds, and each path is an
// execution. Where there are more than so many, rounds are taken to carry nothing over, and that is tried
// out (learn/joined.go).
const fewExecutions = 300

// exploreExternal covers the space of real programs.
func (g *decision) exploreExternal(ctx context.Context, limits search.Limits) error {
	few := limits
	few.Executions = cmp.Or(g.o.changes.executions, fewExecutions)
	if err := g.cover(ctx, few); err != nil || !g.c.Outrun {
		return err
	}
	if g.c.Violations > 0 || g.found != nil {
		return g.cover(ctx, limits)
	}
	x, c := g.x, g.c
	x.Close() // what is kept for further learning, which may never come
	carries := g.joinRounds(ctx, limits)
	if carries == nil {
		return nil
	}
	g.x.Close()
	g.x, g.c, g.found = x, c, nil
	if ctx.Err() != nil {
		g.c.Why = fmt.Sprintf("it was stopped: %d states and %d transitions covered, and whether rounds of polling carry something over was being tried out", c.Count(), c.Transitions)
		return nil
	}
	err := g.cover(ctx, limits)
	if g.c.Why != "" && errors.Is(carries, learn.ErrCarriesOver) {
		g.c.Why += fmt.Sprintf("; each sequence of rounds of polling is a path of its own, and there may be no end of them, because %v", carries)
	} else if g.c.Why != "" {
		g.c.Why += "; each sequence of rounds of polling is a path of its own, for what a program does hangs on more than its last round: a number of attempts, say"
	}
	return err
}

// joinRounds covers the space with rounds of polling that are taken to carry nothing over. The error is why that is
// no good.
func (g *decision) joinRounds(ctx context.Context, limits search.Limits) error {
	y, err := search.NewExplorer(g.t.Sc, g.t.Property)
	if err != nil {
		return err
	}
	y.Tried = g.x.Tried
	y.JoinRounds()
	g.x, g.c = y, nil
	if err = g.cover(ctx, limits); err == nil && g.c.Violations > 0 { // is it so when the programs themselves run?
		if g.found == nil {
			g.found, err = g.find(ctx)
		}
		if err == nil {
			_, err = g.t.Counterexample(g.found.schedule)
		}
	}
	if err == nil {
		g.t.ExploreWith(y)
	}
	return err
}
