package search

import (
	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
)

// An Explorer covers a space.
type Explorer struct {
	*engine.Space
	// Tried is what need not be tried out again of the programs.
	Tried *learn.Tried
}

// NewExplorer returns an explorer of the space of a scenario for one property.
func NewExplorer(sc *scenarios.Scenario, p *scenarios.Property) (*Explorer, error) {
	s, err := engine.NewSpace(sc, p)
	if err != nil {
		return nil, err
	}
	return &Explorer{s, &learn.Tried{}}, nil
}
