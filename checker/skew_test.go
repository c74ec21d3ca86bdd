package checker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// A clock that is ahead of the disk's by more than a lease finds every lock old, one that is behind
// none; what the disk stamps is the same for all. A setting that all have is none.
func TestSkewedClocks(t *testing.T) {
	lease := func(a, b time.Duration) *scenarios.Scenario {
		return fixtures.New("toy/mkdir-lease/skew", fixtures.MkdirLease(), scenarios.Setting{Processes: 2, Skew: []time.Duration{a, b}},
			scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Holds})
	}
	for _, c := range []struct {
		a, b time.Duration
		want Verdict
	}{
		{0, 0, Holds},
		{0, 59 * time.Second, Holds},
		{0, time.Minute, Broken},
		{time.Minute, 0, Broken},
		{-time.Hour, -time.Hour, Holds},
	} {
		for _, engine := range []Engine{Graph, Reference} {
			r, err := Check(t.Context(), lease(c.a, c.b), scenarios.MutualExclusion, Options{Engine: engine})
			require.NoError(t, err)
			require.Equal(t, c.want, r.Verdict, "%s, %s", c.a, c.b)
		}
	}
	r, err := Check(t.Context(), lease(0, time.Minute), scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, "A1 B5", r.Counterexample.Schedule.String())
	require.Contains(t, r.Counterexample.Cause, "found it 1m old")

	sc := lease(0, time.Minute)
	sc.Setting.Interchangeable = true
	_, err = Check(t.Context(), sc, scenarios.MutualExclusion, Options{Symmetry: true})
	require.ErrorContains(t, err, "clocks are apart")
	sc.Setting.Skew = sc.Setting.Skew[:1]
	require.ErrorContains(t, sc.Validate(), "for 1 processes of 2")
}
