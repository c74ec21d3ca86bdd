package checker

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
	"lockpick/sched"
)

// idles leaves its pid at a name, with the last call that it ever makes, and lives on.
func idles(t *scenarios.Task) {
	_, _ = t.Acquire(fixtures.Lock, func() (scenarios.Hold, error) {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			_, err = f.Write([]byte(strconv.Itoa(t.Getpid())))
		}
		return scenarios.Hold{}, err
	})
}

// asks gets through where the name is not there, names nobody, or names somebody who lives.
func asks(t *scenarios.Task) error {
	text, err := t.ReadFile(fixtures.Lock)
	pid, _ := strconv.Atoi(string(text))
	if err != nil || pid == 0 {
		return nil
	}
	return t.Kill(pid)
}

// A daemon whose program has nothing left to do is killed like anybody else: every engine, and
// whoever draws schedules, meets the dead one. Before its last call nothing is wrong.
func TestIdleDaemonKilled(t *testing.T) {
	ctx := context.Background()
	sc := fixtures.Programs("toy/idle-daemon/crash", scenarios.Setting{Processes: 1, Daemons: true, Crashes: 1},
		fixtures.Same(idles), scenarios.Claim{Property: scenarios.Wedge, Verdict: scenarios.Broken})
	sc.Probe = asks
	for name, o := range map[string]Options{"graph": {}, "two workers": {Workers: 2}, "reference": {oracle: reference}} {
		r, err := Check(ctx, sc, scenarios.Wedge, o)
		require.NoError(t, err, name)
		require.Equal(t, Broken, r.Verdict, name)
		require.Equal(t, "A2!", r.Counterexample.Schedule.String(), name)
		require.Contains(t, r.Counterexample.Cause, "was killed at step 3", name)
		if o.oracle == nil {
			require.InDelta(t, 0.25, r.Odds, 1e-12, name) // two steps before the kill, which is then all that can happen
		}
		again, err := Replay(sc, scenarios.Wedge, r.Counterexample.Schedule)
		require.NoError(t, err, name)
		require.True(t, again.Broken, name)
	}
	for _, d := range sched.Drawings() {
		s, err := Sample(ctx, sc, scenarios.Wedge, SampleOptions{Strategy: d.Name, Runs: 200, Seed: 1, KeepGoing: true})
		require.NoError(t, err, d.Name)
		require.Positive(t, s.Failures, d.Name)
	}
	sc.Setting.Mortal = []int{}
	r, err := Check(ctx, sc, scenarios.Wedge, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
}
