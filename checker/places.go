package checker

import (
	"context"
	"fmt"

	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// A Place is a state of a scenario's space, and what can happen in it.
type Place = search.Place

// A Move is something that can happen in a state: a step of a task, a kill, a stall, a loss
// of power.
type Move = search.Move

// Places returns the space of a scenario as a graph, to walk through: every state that can be
// reached, the start first, with everything that can happen there. Moves that break p lead
// nowhere, and states in which that nothing more happens breaks p say so. It returns none, and
// no error, when there are more than so many moves. It is no verdict: [Check] decides.
//
// Real programs have no places: that every one of their runs starts them anew is too much to
// ask for without a verdict. A question about cycles has places, none of which is broken.
func Places(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, most int) ([]Place, error) {
	if sc.Expensive() {
		return nil, fmt.Errorf("checker: %s: the states of real programs cannot be listed: use Check", sc.ID)
	}
	x, err := search.NewExplorer(sc, p)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	return x.Places(ctx, most)
}
