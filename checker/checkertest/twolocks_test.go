package checkertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/internal/testmain"
)

// Scenarios with two locks go through drawn schedules, the environment and bundles as others do, and
// what they print names the lock.
func TestTwoLocksEverywhere(t *testing.T) {
	testmain.Slow(t, "it checks two locks in every way", "./checker/checkertest")
	fixtures.OneWorker(t)
	broken, held := 0, 0
	for _, sc := range toys.Locks() {
		if len(sc.Watch) != 2 || sc.Watch[0] != toys.First {
			continue
		}
		for _, c := range sc.Claims {
			if c.Property.OfCycles() || c.Verdict == checker.Holds && held >= 1 {
				continue // 10 000 schedules that break nothing take their time
			}
			r, err := checker.Check(context.Background(), &sc, c.Property, checker.Options{Workers: 1})
			require.NoError(t, err, sc.ID)
			drawn := captured("TestX", func(t *capture) { Rapid(t, sc, c.Property) })
			if r.Verdict == checker.Holds {
				held++
				require.False(t, drawn.failed, "%s: %s", sc.ID, drawn.log.String())
				continue
			}
			broken++
			require.True(t, drawn.failed, "%s %s", sc.ID, c.Property)
			t.Run(sc.ID, func(t *testing.T) {
				t.Setenv(ScheduleVar, drawn.schedule(t).String())
				again := captured("TestX", func(t *capture) { Rapid(t, sc, c.Property) })
				require.True(t, again.failed, again.log.String())
			})
			text, err := report.Bundle(&r)
			require.NoError(t, err)
			file := filepath.Join(t.TempDir(), "race.txtar")
			require.NoError(t, os.WriteFile(file, text, 0o600))
			got := replayedBundle(file, sc)
			require.False(t, got.failed, got.log.String())
			require.Contains(t, got.log.String(), "broken, as recorded", sc.ID)
		}
	}
	require.Greater(t, broken, 3)
}
