package checker

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Every counterexample replays: the same verdict, the same trace. A schedule with one
// step changed either still breaks the property, or holds, or says where it drifted.
func TestEveryCounterexampleReplays(t *testing.T) {
	fixtures.OnlyAnswers(t)
	t.Parallel()
	for _, sc := range fixtures.Rows() {
		for _, c := range sc.Claims {
			if c.Verdict != Broken || c.Property == scenarios.Starvation {
				continue
			}
			if testing.Short() && len(sc.Setting.Tasks) > 0 {
				continue // the larger ones
			}
			r := decided(t, &sc, c.Property)
			require.Equal(t, Broken, r.Verdict, "%s %s: %s", sc.ID, c.Property, r.Why)
			ce := r.Counterexample
			text := ce.Schedule.String()
			got, err := Replay(&sc, c.Property, fixtures.Parse(t, text))
			require.NoError(t, err, "%s %s", sc.ID, text)
			require.True(t, got.Broken, "%s %s", sc.ID, text)
			require.Equal(t, ce.Trace, got.Counterexample.Trace, sc.ID)
			require.Equal(t, ce.Cost, got.Counterexample.Cost, sc.ID)
			// One runner for many schedules remembers what it probed, and says the same.
			runner, err := NewRunner(&sc, c.Property)
			require.NoError(t, err)
			replayChanged(t, runner, &sc, ce.Schedule)
			again, err := runner.Replay(ce.Schedule)
			require.NoError(t, err, "%s %s", sc.ID, text)
			require.Equal(t, got, again, "%s %s", sc.ID, text)
		}
	}
}

// replayChanged replays schedules with one choice changed.
func replayChanged(t *testing.T, runner *Runner, sc *scenarios.Scenario, s sched.Schedule) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(s))))
	for range 20 {
		changed := append(sched.Schedule(nil), s...)
		i := rng.IntN(len(s))
		process := rng.IntN(sc.Setting.Processes)
		changed[i] = sched.Choice{
			Action: sched.Action(rng.IntN(2)),
			Task:   sched.Task{Process: process, N: 1},
		}
		_, err := runner.Replay(changed)
		var drift *sched.DriftError
		if err != nil {
			require.ErrorAs(t, err, &drift, "%s %s", sc.ID, changed)
			require.Positive(t, drift.Step)
			require.LessOrEqual(t, drift.Step, len(changed))
			require.NotEmpty(t, drift.Why)
		}
	}
}

func TestReplayDrifts(t *testing.T) {
	sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	for text, want := range map[string]string{
		"A1 B3":     "sched: step 4 of the schedule (B1) cannot happen: the task is blocked, has ended or was killed",
		"A1 ~":      "sched: step 2 of the schedule (~) cannot happen: no stall is left, or the setting has none",
		"A1!":       "sched: step 2 of the schedule (A!) cannot happen: no crash is left, or the process may not be killed, has ended or is unknown",
		"A1 Q9":     "checker: step 2 of the schedule names task Q, which toy/excl/contend does not have: its processes are A to B",
		"A1 A.2x1":  "checker: step 2 of the schedule names task A.2, which toy/excl/contend does not have: its processes are A to B",
		"A5 B2 B99": "sched: step 11 of the schedule (B1) cannot happen: the task is blocked, has ended or was killed",
	} {
		_, err := Replay(sc, scenarios.MutualExclusion, fixtures.Parse(t, text))
		require.EqualError(t, err, want, text)
	}
	// A schedule may end early: nothing is said about what comes after.
	r, err := Replay(sc, scenarios.MutualExclusion, fixtures.Parse(t, "A1 B1"))
	require.NoError(t, err)
	require.False(t, r.Broken)
	require.False(t, r.Finished)
	require.Len(t, r.Counterexample.Trace, 2)

	_, err = Replay(sc, &scenarios.Property{ID: "no-meaning"}, nil)
	require.ErrorContains(t, err, `property "no-meaning": Meaning is missing`)
}
