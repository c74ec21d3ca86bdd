package checker

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/sched"
)

// A task that has written a file is stopped before it reads it back, and the other one writes it. That comes before a
// file that is read twice; one that only one task uses is left alone.
func TestDirected(t *testing.T) {
	t.Parallel()
	a, b := sched.Task{Process: 0, N: 1}, sched.Task{Process: 1, N: 1}
	run := func(order ...sched.Task) *trace.Walk {
		w := &trace.Walk{}
		add := func(task sched.Task, name string, changes bool) {
			st := trace.Walked{Step: &trace.Step{Choice: sched.Choice{Action: sched.Run, Task: task}}}
			st.Targets = [][]trace.Target{{{Path: name}}}
			if changes {
				st.Changes = []trace.Change{{Path: name}}
			}
			w.Steps = append(w.Steps, st)
		}
		for _, task := range order {
			add(task, "head", false)
			add(task, "own"+task.String(), true)
			add(task, "own"+task.String(), false)
			add(task, "message", true)
			add(task, "message", false)
			add(task, "head", true)
		}
		return w
	}
	require.Equal(t, []course{
		{{a, 4, false}, {b, 4, false}, {a, math.MaxInt, false}},
		{{a, 5, false}, {b, 6, false}, {a, math.MaxInt, false}},
	}, directed(run(a, b), run(b, a), a, b))

	c := course{{a, 1, false}, {b, 2, false}, {a, math.MaxInt, false}}
	v := &sched.View{Last: -1, Tasks: []sched.TaskView{{Task: a, Enabled: true}, {Task: b, Enabled: true}}}
	var who string
	for range 6 {
		choice, err := c.Next(v)
		require.NoError(t, err)
		who += choice.Task.String()
		v.Last = choice.Task.Process
		v.Tasks[0].Enabled = len(who) < 5 // it has ended
	}
	require.Equal(t, "ABBAAB", who)
}
