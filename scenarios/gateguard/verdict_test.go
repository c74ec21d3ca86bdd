package gateguard

import (
	"testing"

	"lockpick/scenarios"
	"lockpick/scenarios/internal/claims"
)

// Every interleaving, against every claim. What holds holds although tasks met.
func TestTheClaims(t *testing.T) {
	for _, sc := range Scenarios() {
		t.Run(sc.ID, func(t *testing.T) { claims.Run(t, sc) })
	}
}

// What is claimed broken breaks in a drawn run too.
func TestDrawnRunsBreakIt(t *testing.T) {
	for _, sc := range Scenarios() {
		for _, c := range sc.Claims {
			if c.Verdict == scenarios.Broken {
				claims.Drawn(t, &sc, c.Property, 3)
			}
		}
	}
}
