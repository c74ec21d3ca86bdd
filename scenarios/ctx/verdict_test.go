package ctx

import (
	"testing"

	"github.com/stretchr/testify/require"

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

// The pid with a clean-up is safe for two processes only. With three a pid is dead
// because its process has finished, not because it was killed.
func TestPidCleanupBreaksWithThree(t *testing.T) {
	sc, err := claims.Find(t, Scenarios(), "ctx/pid-cleanup/contend").WithProcesses(3)
	require.NoError(t, err)
	claims.Drawn(t, &sc, scenarios.MutualExclusion, 5)
}
