package engine

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// MachineAtFirst returns the machine on which a scenario starts. An invariant that is
// violated there is a fault of the scenario: there is no schedule to show.
func MachineAtFirst(sc *scenarios.Scenario, p *scenarios.Property) (*fsfake.Machine, error) {
	m := sc.NewMachine()
	if p.Invariant == nil {
		return m, nil
	}
	if said := p.Invariant(scenarios.NewView(m)); said != "" {
		return nil, fmt.Errorf("checker: %s: %s is broken before the first step: %s: look at Setup, or at the invariant", sc.ID, p, said)
	}
	return m, nil
}
