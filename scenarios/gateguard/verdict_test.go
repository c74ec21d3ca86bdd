package gateguard

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// Every claim is put to the test, within a budget that covers all but the largest
// spaces: what is claimed broken breaks, also in a drawn run, and that run replays; what
// is claimed to hold does, and not because nobody ever met anybody.
func TestClaims(t *testing.T) {
	for _, sc := range Scenarios() {
		for _, claim := range sc.Claims {
			t.Run(sc.ID+"/"+string(claim.Property), func(t *testing.T) {
				r, err := checker.Check(t.Context(), &sc, claim.Property, checker.Options{States: 200_000})
				require.NoError(t, err)
				require.Positive(t, r.Stats.Contended)
				if r.Verdict != scenarios.Unknown {
					require.Equal(t, claim.Verdict, r.Verdict)
				}
				if claim.Verdict == scenarios.Broken {
					breaks(t, &sc, claim.Property, 3)
				}
			})
		}
	}
}

// breaks finds a run that breaks the property, among those that PCT draws for bugs of
// this depth, and replays it.
func breaks(t *testing.T, sc *scenarios.Scenario, p scenarios.Property, depth int) {
	t.Helper()
	s, err := checker.Sample(t.Context(), sc, p, checker.SampleOptions{Strategy: "pct", Depth: depth, Runs: 20_000, Seed: 1})
	require.NoError(t, err)
	require.Equal(t, scenarios.Broken, s.Verdict)
	require.LessOrEqual(t, s.Counterexample.Cost.Preemptions, 6)
	r, err := checker.Replay(sc, p, s.Counterexample.Schedule)
	require.NoError(t, err)
	require.True(t, r.Broken)
}
