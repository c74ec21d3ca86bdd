package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// The smallest schedules of the toys with signal handlers.
func TestSignals(t *testing.T) {
	requireSmallest(t, fixtures.Signalled(), map[string]string{
		"toy/trap/signal foreign-release": "A1 B^ B.2x1",
		"toy/trap/three mutual-exclusion": "A1 B^ B.2x2 C1",
		"toy/trap-exits/signal wedge":     "A1^ A.2x1 B2",
		"toy/count/signals assertion":     "",
		"toy/trap-locks/signal deadlock":  "A2^ A.2x2 B2",
	})
}

func TestEnginesAgreeOnSignals(t *testing.T) { enginesAgreeOn(t, fixtures.Signalled()) }

func TestNoSymmetryWithHandlers(t *testing.T) {
	sc := *fixtures.Signalled()[0]
	sc.Setting.Interchangeable = true
	x, err := engine.NewSpace(&sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	require.ErrorContains(t, x.Symmetric(), "it needs one task in each")
}
