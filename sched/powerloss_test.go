package sched_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/sched"
)

func losable() *sched.View {
	return &sched.View{
		Tasks: []sched.TaskView{{Task: sched.Task{Process: 0, N: 1}, Enabled: true}},
		Last:  -1, Kills: []int{0}, Stall: true, Losses: 3,
	}
}

// Power losses come after everything else, by the state of the disk.
func TestPowerLossIsTheLastOption(t *testing.T) {
	text := func(v *sched.View) string { return sched.Schedule(v.Options(nil)).String() }
	v := losable()
	require.Equal(t, "A1! ~ *0 *1 *2", text(v))
	v.Losses = 0
	require.Equal(t, "A1! ~", text(v))
}

func TestReplayOfAPowerLoss(t *testing.T) {
	v := losable()
	c, err := sched.Replay{Schedule: lose(2)}.Next(v)
	require.NoError(t, err)
	require.Equal(t, lose(2)[0], c)
	_, err = sched.Replay{Schedule: lose(3)}.Next(v)
	require.EqualError(t, err, "sched: step 1 of the schedule (*3) cannot happen: the disk has 3 legal states then, counted from 0, or the power cannot be lost any more")
	c, err = sched.RunToCompletion{Preemptions: []sched.Preemption{{Step: 0, Choice: lose(3)[0]}, {Step: 0, Choice: lose(1)[0]}}}.Next(v)
	require.NoError(t, err)
	require.Equal(t, lose(1)[0], c)
}

// Drawing strategies lose the power too, in every state.
func TestDrawnPowerLosses(t *testing.T) {
	for _, name := range []string{"random", "pct"} {
		seen := map[sched.Choice]bool{}
		for seed := range uint64(300) {
			st := strategies(seed)[name]
			v := losable()
			for v.Step = range 12 {
				c, err := st.Next(v)
				require.False(t, errors.Is(err, sched.ErrEnd))
				seen[c] = true
			}
		}
		for k := range 3 {
			require.True(t, seen[lose(k)[0]], "%s loses the power in state %d", name, k)
		}
		require.Len(t, seen, 6, name)
	}
}
