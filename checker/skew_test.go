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
	fixtures.OnlyAnswers(t)
	lease := func(a, b time.Duration) *scenarios.Scenario {
		return fixtures.New("toy/mkdir-lease/skew", mkdirLease(),
			scenarios.Setting{Processes: 2, Skew: []time.Duration{a, b}},
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
		for _, engine := range engines(t) {
			r, err := Check(t.Context(), lease(c.a, c.b), scenarios.MutualExclusion, Options{oracle: engine})
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

// A clock that is set back makes locks young, and those of before lie in the future; nobody sleeps for
// longer or shorter by it, and nobody is delayed.
func TestClockSetBack(t *testing.T) {
	sc := fixtures.New("toy/mkdir-lease/set-back", mkdirLease(),
		scenarios.Setting{Processes: 2, Stalls: 1, StallFor: -time.Hour},
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Holds})
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict)
		require.Contains(t, r.Conditions(), "assumes that nobody is delayed: the clock is read, and no stall is allowed")
	}

	slept := &scenarios.Scenario{
		ID: "toy/sleep/set-back", Setting: scenarios.Setting{Processes: 2, Stalls: 1, StallFor: -time.Hour},
		Claims: []scenarios.Claim{{Property: scenarios.Assertion, Verdict: Holds}},
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				before := t.Now()
				_ = t.Mkdir("/made", 0o755)
				t.Sleep(time.Minute)
				took := t.Now().Sub(before)
				t.Assert(took == time.Minute || took == 2*time.Minute || took == time.Minute-time.Hour || took == 2*time.Minute-time.Hour, "it took %s", took)
			}
		},
	}
	r, err := Check(t.Context(), slept, scenarios.Assertion, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	require.Equal(t, []string{"assumes that nobody is delayed: the clock is read, and no stall is allowed"}, r.Conditions())

	slept.Setting.Punctual = []int{0}
	require.ErrorContains(t, slept.Validate(), "a clock that is set back delays nobody")
}
