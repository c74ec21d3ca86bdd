package sched_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/sched"
)

// A toy is a run of tasks that only count their steps: task i of process i makes
// left[i] steps. Nobody ever blocks; asleep says after which steps a task has slept.
type toy struct {
	left   []int
	asleep map[int]bool // by task, after its next step
	kills  int
	stalls int
}

// play runs the toy under a strategy, until nothing is left to do.
func (y toy) play(t *testing.T, st sched.Strategy) (sched.Schedule, error) {
	t.Helper()
	left := append([]int(nil), y.left...)
	v := sched.View{Last: -1, Tasks: make([]sched.TaskView, len(left))}
	var s sched.Schedule
	for {
		busy := false
		v.Step, v.Kills, v.Stall = len(s), nil, y.stalls > 0
		for i, n := range left {
			v.Tasks[i].Task, v.Tasks[i].Enabled = sched.Task{Process: i, N: 1}, n > 0
			busy = busy || n > 0
			if n > 0 && y.kills > 0 {
				v.Kills = append(v.Kills, i)
			}
		}
		if !busy {
			return s, nil
		}
		c, err := st.Next(&v)
		if errors.Is(err, sched.ErrEnd) {
			return s, nil
		}
		if err != nil {
			return s, err
		}
		require.Contains(t, v.Options(nil), c, "a choice that is not possible")
		s = append(s, c)
		switch c.Action {
		case sched.Stall:
			y.stalls--
		case sched.Kill:
			y.kills--
			left[c.Task.Process] = 0
		default:
			left[c.Task.Process]--
			v.Last = c.Task.Process
			v.Tasks[v.Last].Asleep = y.asleep[v.Last]
		}
	}
}

func parse(t *testing.T, text string) sched.Schedule {
	t.Helper()
	s, err := sched.ParseSchedule(text)
	require.NoError(t, err)
	return s
}
