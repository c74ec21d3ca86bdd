package checkertest

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/ctx"
)

// A hazard that breaks something fails, with the counterexample; what is accepted, or too large for the bound or the
// time, says so.
func TestSurveyed(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	left := slices.IndexFunc(ctx.Scenarios(), func(sc scenarios.Scenario) bool { return sc.Variant() == "excl" })
	studies, err := scenarios.Survey(*ctx.Scenarios()[left].Subject)
	require.NoError(t, err)
	crash := func(within context.Context, o checker.Options) *capture {
		for _, s := range studies {
			if s.Hazard.ID == scenarios.HazardCrash {
				return captured("TestX", func(t *capture) { surveyed(within, t, s, o) })
			}
		}
		return nil
	}
	got := crash(t.Context(), checker.Options{SkipOdds: true})
	require.True(t, got.Failed())
	require.Contains(t, got.log.String(), "ctx/excl/survey-crash-2  BROKEN (claimed: holds)  wedge")
	require.Equal(t, "A1! B1", got.schedule(t).String())

	got = crash(t.Context(), checker.Options{SkipOdds: true, Accept: []string{"LP1020"}})
	require.False(t, got.Failed(), got.log.String())
	require.Contains(t, got.log.String(), "LP1020 (left behind) is accepted")

	got = crash(stopped, checker.Options{})
	require.True(t, got.Failed())
	require.Contains(t, got.log.String(), checker.Stopped+". Give the test more (-timeout).")

	got = crash(t.Context(), checker.Options{States: 2, Accept: []string{"LP1020"}})
	require.True(t, got.Failed() != testing.Short(), "too large is unknown, and skipped under -short")
	require.Contains(t, got.log.String(), "ctx/excl/survey-crash-2")
}
