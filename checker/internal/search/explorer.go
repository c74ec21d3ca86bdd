package search

import (
	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/serial"
	"lockpick/scenarios"
)

// An Explorer covers a space.
type Explorer struct {
	*engine.Space
	// Tried is what need not be tried out again of the programs.
	Tried *learn.Tried
	// Believes: no program is run once more, nor its rounds tried out. It is for tests that compare
	// explorations with each other, of programs whose promises are kept as other tests have seen.
	Believes bool
}

// NewExplorer returns an explorer of the space of a scenario for one property.
func NewExplorer(sc *scenarios.Scenario, p *scenarios.Property) (*Explorer, error) {
	p, err := serial.Bind(sc, p)
	if err != nil {
		return nil, err
	}
	s, err := engine.NewSpace(sc, p)
	if err != nil {
		return nil, err
	}
	return &Explorer{Space: s, Tried: &learn.Tried{}}, nil
}
