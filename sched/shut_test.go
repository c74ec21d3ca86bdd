package sched_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/sched"
)

// No strategy takes a way that is shut.
func TestShutWays(t *testing.T) {
	task := sched.Task{Process: 0, N: 1}
	v := &sched.View{Last: -1, Tasks: []sched.TaskView{{Task: task, Enabled: true, Ways: 4, Shut: 0b1011}}}
	open := sched.Choice{Action: sched.Run, Task: task, Which: 2}
	require.Equal(t, []sched.Choice{open}, v.Options(nil))
	for which := range 4 {
		_, err := sched.Replay{Schedule: sched.Schedule{{Action: sched.Run, Task: task, Which: which}}}.Next(v)
		require.Equal(t, which == 2, err == nil)
	}
	for seed := range uint64(20) {
		for _, st := range []sched.Strategy{sched.NewRandom(seed), sched.NewPCT(seed, 10, 3)} {
			c, err := st.Next(v)
			require.NoError(t, err)
			require.Equal(t, open, c)
		}
	}
	c, err := (&sched.RunToCompletion{}).Next(v)
	require.NoError(t, err)
	require.Equal(t, open, c)
}
