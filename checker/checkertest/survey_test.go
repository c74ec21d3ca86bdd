package checkertest

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// lockfile is left behind by whoever is killed.
func lockfile(t *testing.T) []scenarios.Study {
	t.Helper()
	studies, err := scenarios.Survey(scenarios.Subject{ID: "toy/lockfile", Lock: scenarios.Protocol{
		Path: "/tmp/lock",
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile("/tmp/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			_ = h.File.Close()
			return t.Unlink("/tmp/lock")
		},
	}})
	require.NoError(t, err)
	return studies
}

// A hazard that breaks something fails, with the counterexample; what is accepted, or too large for the bound or the
// time, says so.
func TestSurveyed(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	studies := lockfile(t)
	crash := func(ctx context.Context, o checker.Options) *capture {
		for _, s := range studies {
			if s.Hazard.ID == scenarios.HazardCrash {
				return captured("TestX", func(t *capture) { surveyed(ctx, t, s, o) })
			}
		}
		return nil
	}
	got := crash(t.Context(), checker.Options{SkipOdds: true})
	require.True(t, got.Failed())
	require.Contains(t, got.log.String(), "toy/lockfile/survey-crash-2  BROKEN (claimed: holds)  wedge")
	require.Equal(t, "A1! B1", got.schedule(t).String())

	got = crash(t.Context(), checker.Options{SkipOdds: true, Accept: []string{"LP1020"}})
	require.False(t, got.Failed(), got.log.String())
	require.Contains(t, got.log.String(), "LP1020 (left behind) is accepted")

	got = crash(stopped, checker.Options{})
	require.True(t, got.Failed())
	require.Contains(t, got.log.String(), checker.Stopped+". Give the test more (-timeout).")

	got = crash(t.Context(), checker.Options{States: 2, Accept: []string{"LP1020"}})
	require.True(t, got.Failed() != testing.Short(), "too large is unknown, and skipped under -short")
	require.Contains(t, got.log.String(), "toy/lockfile/survey-crash-2")
}
