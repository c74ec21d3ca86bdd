package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/golden"
	"lockpick/scenarios"
)

func TestBundleRoundTrips(t *testing.T) {
	for _, r := range results(t) {
		if r.Counterexample == nil {
			_, err := Bundle(&r)
			require.ErrorContains(t, err, "no counterexample")
			continue
		}
		text, err := Bundle(&r)
		require.NoError(t, err)
		b, err := ParseBundle(text)
		require.NoError(t, err)
		require.Equal(t, r.Scenario.ID, b.Scenario)
		require.Equal(t, r.Property, b.Property)
		require.Equal(t, r.Verdict, b.Verdict)
		require.Equal(t, r.Counterexample.Schedule, b.Schedule)
		st := r.Scenario.Setting
		require.Equal(t, []int{st.Processes, st.Crashes, st.Stalls, st.PowerLosses}, []int{b.Processes, b.Crashes, b.Stalls, b.PowerLosses})
		if st.Stalls > 0 {
			require.Equal(t, st.StallFor, b.StallFor)
		}
		require.Equal(t, r.Counterexample.Cause, b.Cause)
		require.Equal(t, strings.TrimSpace(TraceText(r.Counterexample.Trace)), b.Trace)
	}
}

func TestBundleText(t *testing.T) {
	text, err := Bundle(result(t, "toy/excl/crash", scenarios.Wedge))
	require.NoError(t, err)
	golden.Check(t, "bundle.txtar", string(text))
}

func TestBundleErrors(t *testing.T) {
	good, err := Bundle(result(t, "toy/look/contend", scenarios.MutualExclusion))
	require.NoError(t, err)
	for old, c := range map[string]struct{ with, want string }{
		"lockpick bundle":  {"something else", "no bundle"},
		"-- schedule --":   {"-- plan --", `no part "schedule"`},
		"mutual-exclusion": {"fairness", `unknown property "fairness"`},
		"processes 2":      {"processes two", "want a number"},
		"crashes 0":        {"floods 0", `unknown word "floods"`},
		"stalls 0":         {"stall-for ever", "want a positive duration"},
		"broken":           {"fixed", `unknown word "fixed"`},
		"-- schedule --\n": {"-- schedule --\nQQ ", "the bundle's schedule"},
	} {
		_, err := ParseBundle([]byte(strings.Replace(string(good), old, c.with, 1)))
		require.ErrorContains(t, err, c.want)
	}
}
