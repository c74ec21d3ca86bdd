package watchdog

import (
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/parallel"
	"lockpick/scenarios"
)

func toy(acquire func(t *scenarios.Task) error) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "toy/stuck/contend", Setting: scenarios.Setting{Processes: 2},
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				_, _ = t.Acquire("/lock", func() (scenarios.Hold, error) { return scenarios.Hold{}, acquire(t) })
			}
		},
		Claims: []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}},
	}
}

// A program that never comes back ends the check with where it stands. Before, the check went
// on until somebody ended it.
func TestProgramsThatNeverComeBack(t *testing.T) {
	var mu sync.Mutex
	enough := make(chan bool) // so that nothing spins on after the test
	for says, acquire := range map[string]func(t *scenarios.Task) error{
		`^checker: task A of toy/stuck/contend runs on without a call at .*watchdog_test\.go:\d+ .*, after its call "stat /lock": it is in an endless loop, or waits`: func(t *scenarios.Task) error {
			_, err := t.Stat("/lock")
			for n := 0; ; n++ {
				select {
				case <-enough:
					return err
				default:
				}
			}
		},
		`^checker: task [AB] of toy/stuck/contend runs on without a call at .*watchdog_test\.go:\d+ `: func(t *scenarios.Task) error {
			mu.Lock() // and whoever is given up here never unlocks
			f, err := t.OpenFile("/lock", os.O_CREATE|os.O_EXCL, 0o600)
			mu.Unlock()
			if err != nil {
				return err
			}
			return f.Close()
		},
	} {
		_, err := over(10*time.Millisecond, func(w scenarios.Watchdog) (checker.Result, error) {
			sc := toy(acquire)
			sc.Watchdog = w
			return checker.Check(t.Context(), sc, scenarios.MutualExclusion, checker.Options{})
		})
		require.Error(t, err)
		require.Regexp(t, says, err.Error())
	}
	close(enough)
}

// What is watched answers as if it were not.
func TestOver(t *testing.T) {
	n, err := Over(func(w scenarios.Watchdog) (int, error) {
		r := &scenarios.WatchedRun{Who: "task A"}
		w.Begin(r)
		w.End(r)
		return 7, errors.New("its own")
	})
	require.Equal(t, 7, n)
	require.EqualError(t, err, "its own")
	require.PanicsWithValue(t, "its own", func() {
		_, _ = Over(func(scenarios.Watchdog) (int, error) { panic("its own") })
	})
}

// Patience is for one stretch between two calls, not for a program.
func TestPatienceBeginsAnew(t *testing.T) {
	d, r := &dog{}, &scenarios.WatchedRun{Who: "task A"}
	d.Begin(r)
	for range 6 * ticks {
		r.Turns.Add(1)
		require.NoError(t, d.look())
	}
	for range 2 * ticks {
		require.NoError(t, d.look(), "it is not its turn")
	}
	r.Turns.Add(1)
	for range ticks {
		require.NoError(t, d.look())
	}
	err := d.look()
	require.Error(t, err)
	require.Regexp(t, `task A runs on without a call.*, before its first call`, err.Error())
	d.End(r)
	require.NoError(t, d.look())
}

// It looks while programs begin and end on other goroutines: for the race detector. What it says
// is not asked here: a machine that has much to do may stop a goroutine within a turn for longer
// than the looks last.
func TestItLooksWhileProgramsRun(t *testing.T) {
	d := &dog{}
	parallel.Together(3, func(k int) {
		for range 200 {
			if k == 0 {
				_ = d.look()
				continue
			}
			r := &scenarios.WatchedRun{Who: "task A"}
			d.Begin(r)
			r.Turns.Add(1)
			r.Turns.Add(1)
			d.End(r)
		}
	})
	require.Empty(t, d.runs)
}
