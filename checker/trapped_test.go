package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/internal/race"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Two that poll for ever for a dead owner's file, and nobody can ever acquire again: whoever draws
// schedules sees it as well, as often as the odds say, and who runs them all does too.
func TestTrapsAreSampled(t *testing.T) {
	fixtures.OnlyAnswers(t)
	ctx := context.Background()
	dead := func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644) }
	for _, c := range []struct {
		name    string
		crashes int
		setup   func(m *fsfake.Machine)
		want    string
	}{
		{"left behind", 0, dead, "A1"},
		// B has not begun yet, and will poll.
		{"killed", 1, nil, "A1!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := fixtures.New("toy/poll/dead", fixtures.ExclWait(), scenarios.Setting{Processes: 2, Crashes: c.crashes})
			sc.Setup = c.setup
			r, err := Check(ctx, sc, scenarios.Wedge, Options{})
			require.NoError(t, err)
			require.Equal(t, Broken, r.Verdict)
			require.Positive(t, r.Odds)
			if race.Detector {
				t.Skip("SKIPPED under the race detector: samples and the reference engine, which are one goroutine each; go test ./checker compares them")
			}
			const runs = 400
			for _, d := range sched.Drawings() {
				s, err := Sample(ctx, sc, scenarios.Wedge, SampleOptions{Strategy: d.Name, Runs: runs, Seed: 1, KeepGoing: true})
				require.NoError(t, err)
				require.Positive(t, s.Failures)
				require.NotEmpty(t, s.Counterexample.Cause)
				if d.Name == "random" {
					require.InDelta(t, r.Odds, float64(s.Failures)/runs, 0.1)
				}
			}
			ref, err := Check(ctx, sc, scenarios.Wedge, Options{oracle: reference})
			require.NoError(t, err)
			require.Equal(t, Broken, ref.Verdict)
			require.Equal(t, r.Counterexample.Cost, ref.Counterexample.Cost)
			require.Equal(t, c.want, r.Counterexample.Schedule.String())
		})
	}
}

// A run after which too much can follow is not said to break nothing without a word.
func TestReplaySaysWhatWasNotAsked(t *testing.T) {
	sc := fixtures.New("toy/poll/dead", fixtures.ExclWait(), scenarios.Setting{Processes: 2})
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile(fixtures.Lock, nil, 0o644) }
	schedule := sched.Schedule{{Action: sched.Run, Task: sched.Task{N: 1}}}
	for most, want := range map[int]bool{0: false, 1: true} {
		r, err := NewRunner(sc, scenarios.Wedge)
		require.NoError(t, err)
		r.t.TrapStates = most
		got, err := r.Replay(schedule)
		require.NoError(t, err)
		require.Equal(t, !want, got.Broken)
		require.Equal(t, want, got.Unasked != "")
	}
}
