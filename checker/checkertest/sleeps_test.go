package checkertest

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/report"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// worksFor is a lease of ten seconds, a holder that works for some time, and a contender that takes
// over what is older.
func worksFor(d time.Duration) scenarios.Scenario {
	sc := toyScenario(true, scenarios.Holds)
	create := func(t *scenarios.Task) error {
		f, err := t.OpenFile(toyLock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	p := scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			err := create(t)
			if err == nil {
				return scenarios.Hold{}, nil
			}
			if st, stat := t.Stat(toyLock); stat == nil && t.Now().Sub(st.ModTime()) > 10*time.Second {
				_ = t.Unlink(toyLock)
				err = create(t)
			}
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(toyLock) },
	}
	sc.Program = func(process, _ int) scenarios.Program {
		return func(t *scenarios.Task) {
			_ = scenarios.Locked(t, p, func() {
				if process == 0 {
					t.Sleep(d)
				}
				t.Work()
			})
		}
	}
	sc.Setting.Fixed, sc.Setting.Assume.Times = true, scenarios.TimesShared
	return sc
}

// What sleeps is seen by drawn schedules, by the environment and by bundles as by a check.
func TestSleepsEverywhere(t *testing.T) {
	testmain.Slow(t, "it checks sleeps in every way", "./checker/checkertest")
	fixtures.OneWorker(t)
	p := scenarios.MutualExclusion
	rapid := func(d time.Duration) *capture {
		return captured("TestX", func(t *capture) { Rapid(t, worksFor(d), p) })
	}
	require.False(t, rapid(4*time.Second).failed)
	got := rapid(20 * time.Second)
	require.True(t, got.failed)

	sc := worksFor(20 * time.Second)
	r, err := checker.Check(context.Background(), &sc, p, checker.Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	text, err := report.Bundle(&r)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "race.txtar")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	bundle := replayedBundle(file, sc)
	require.False(t, bundle.failed, bundle.log.String())
	require.Contains(t, bundle.log.String(), "broken, as recorded")

	t.Setenv(ScheduleVar, got.schedule(t).String())
	again := captured("TestX", func(t *capture) { Rapid(t, worksFor(20*time.Second), p) })
	require.True(t, again.failed, again.log.String())
}
