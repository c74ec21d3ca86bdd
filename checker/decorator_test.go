package checker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
	"lockpick/sched"
)

// counting is a strategy around another.
type counting struct {
	inner sched.Strategy
	asked int
}

func (c *counting) Next(v *sched.View) (sched.Choice, error) {
	c.asked++
	return c.inner.Next(v)
}

func (c *counting) Follows() bool { return sched.Follows(c.inner) }

// A replay inside another strategy, or behind a pointer, runs as the replay does: through
// rounds that poll in vain, and into the drift at its end.
func TestReplayInsideAnotherStrategy(t *testing.T) {
	// B polls for ever: A was killed with the lock.
	sc := fixtures.New("toy/excl-wait/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 2, Crashes: 1})
	s, err := sched.ParseSchedule("A2 A! B12")
	require.NoError(t, err)
	run := func(st sched.Strategy) (Ran, error) {
		r, err := NewRunner(sc, scenarios.MutualExclusion)
		require.NoError(t, err)
		return r.Run(st, false)
	}
	want, err := run(sched.Replay{Schedule: s})
	require.NoError(t, err)
	require.Equal(t, s.String(), want.Schedule.String())
	for _, st := range []sched.Strategy{&counting{inner: sched.Replay{Schedule: s}}, &sched.Replay{Schedule: s}} {
		got, err := run(st)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}

	// Nobody is left, and the schedule goes on.
	sc = fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 1})
	s, err = sched.ParseSchedule("A9")
	require.NoError(t, err)
	_, wantErr := run(sched.Replay{Schedule: s})
	var drift *sched.DriftError
	require.True(t, errors.As(wantErr, &drift))
	_, err = run(&counting{inner: sched.Replay{Schedule: s}})
	require.Equal(t, wantErr, err)
}
