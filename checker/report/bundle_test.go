package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
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
		require.Equal(t, r.Property.ID, b.Property)
		require.Equal(t, r.Verdict, b.Verdict)
		require.Equal(t, r.Counterexample.Schedule, b.Schedule)
		back, changed, err := r.Scenario.Restored(b.Setting)
		require.NoError(t, err)
		require.Empty(t, changed)
		require.Equal(t, r.Scenario.Setting, back.Setting)
		require.Equal(t, r.Counterexample.Cause, b.Cause)
		require.Equal(t, strings.TrimSpace(TraceText(r.Counterexample.Trace)), b.Trace)
	}
}

// What flags can change comes from the bundle, the rest is the scenario's own, and what
// has changed of that is told.
func TestBundleSetting(t *testing.T) {
	r := *result(t, "toy/lease/stall", scenarios.MutualExclusion)
	asked, err := r.Scenario.In(r.Scenario.Setting)
	require.NoError(t, err)
	asked.Setting.StallFor, asked.Setting.Crashes, asked.Setting.Mortal = 48*time.Hour, 1, []int{0}
	written := *r.Scenario
	r.Scenario = &asked
	text, err := Bundle(&r)
	require.NoError(t, err)
	require.Contains(t, string(text), "processes 2\ncrashes 1\nmortal A\nstalls 1\nstall-for 48h0m0s\n")
	b, err := ParseBundle(text)
	require.NoError(t, err)
	back, changed, err := written.Restored(b.Setting)
	require.NoError(t, err)
	require.Equal(t, "[mortal all, not A]", fmt.Sprint(changed))
	require.Equal(t, 48*time.Hour, back.Setting.StallFor)
	require.Nil(t, back.Setting.Mortal)
	require.Contains(t, ReplayCommand(&checker.Result{Scenario: &back, Property: r.Property, Counterexample: r.Counterexample}, Options{}),
		" --crashes 1 --stall-for 48h0m0s")
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
		"version 2":        {"version 3", `version 2" on the first line, not "lockpick bundle, version 3"`},
		"-- schedule --":   {"-- plan --", `no part "schedule"`},
		"processes 2":      {"processes two", "the bundle's setting: scenarios: processes two: choose 1 to 26"},
		"crashes 0":        {"floods 0", `no field "floods"`},
		"stalls 0":         {"stall-for ever", "stall-for ever: choose a time"},
		"broken":           {"fixed", `unknown word "fixed"`},
		"-- schedule --\n": {"-- schedule --\nQQ ", "the bundle's schedule"},
	} {
		_, err := ParseBundle([]byte(strings.Replace(string(good), old, c.with, 1)))
		require.ErrorContains(t, err, c.want)
	}
}
