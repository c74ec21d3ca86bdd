package checker

import (
	"errors"
	"slices"

	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Beside runs a scenario that was changed in the order of a counterexample of what it was before, text says how: each
// task runs until the call before which it was interrupted there, unless it waits. The run is nothing that decides, it
// shows what the change does.
func Beside(changed *scenarios.Scenario, cx *trace.Counterexample, text string) (*trace.Beside, error) {
	p, err := changed.Property(cx.Property.ID)
	if err != nil {
		return nil, err
	}
	r, err := NewRunner(changed, p)
	if err != nil {
		return nil, err
	}
	alone, err := r.Run(&inTurns{made: map[sched.Task]int{}}, true)
	if err != nil {
		return nil, err
	}
	s := &inTurns{list: turnsOf(cx.Trace, alone.Trace), made: map[sched.Task]int{}}
	o, err := r.Run(s, true)
	if err != nil {
		return nil, err
	}
	if o.Broken {
		return nil, errors.New("it is broken in this order, too")
	}
	return &trace.Beside{Text: text, Scenario: changed, Run: r.t.Evidence(o)}, nil
}

// A turn is a part of a schedule that one task makes: until it has made so many steps in all. A fault is one, too.
type turn struct {
	task  sched.Task
	until int
	fault *sched.Choice
}

// turnsOf are the turns of a trace in programs that were changed, of which alone is a run.
func turnsOf(broken, alone trace.Trace) (list []turn) {
	steps, until := map[sched.Task]int{}, map[sched.Task][]int{}
	for _, st := range broken {
		t := st.Choice.Task
		if st.Choice.Action != sched.Run {
			list = append(list, turn{fault: &st.Choice})
			continue
		}
		if until[t] == nil {
			until[t] = aligned(callsOf(broken, t), callsOf(alone, t))
		}
		if n := len(list); n == 0 || list[n-1].fault != nil || list[n-1].task != t {
			list = append(list, turn{task: t})
		}
		steps[t]++
		list[len(list)-1].until = until[t][steps[t]]
	}
	return list
}

// callsOf are the calls of a task, step by step, without what differs when it has one more descriptor.
func callsOf(tr trace.Trace, t sched.Task) (calls []string) {
	for _, st := range tr {
		if st.Choice.Task == t && st.Choice.Action == sched.Run {
			calls = append(calls, st.Names())
		}
	}
	return calls
}

// aligned says how much of b corresponds to each beginning of a, by a longest common subsequence.
func aligned(a, b []string) []int {
	common := make([][]int, len(a)+1)
	common[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		common[i] = make([]int, len(b)+1)
		for k := len(b) - 1; k >= 0; k-- {
			if common[i][k] = max(common[i+1][k], common[i][k+1]); a[i] == b[k] {
				common[i][k] = common[i+1][k+1] + 1
			}
		}
	}
	out := make([]int, 1, len(a)+1)
	for i, k := 0, 0; i < len(a); i++ {
		for k < len(b) && a[i] != b[k] && common[i][k+1] == common[i][k] {
			k++
		}
		n := out[i]
		if k < len(b) && a[i] == b[k] {
			k++
			n = k
		}
		out = append(out, n)
	}
	return out
}

// inTurns is a strategy that takes turns, as far as the tasks can, and then lets one after the other run.
type inTurns struct {
	list []turn
	made map[sched.Task]int
}

// Next implements [sched.Strategy].
func (s *inTurns) Next(v *sched.View) (sched.Choice, error) {
	options := v.Options(nil)
	step := func(t *sched.TaskView) (sched.Choice, error) {
		s.made[t.Task]++
		i := slices.IndexFunc(options, func(c sched.Choice) bool { return c.Action == sched.Run && c.Task == t.Task })
		return options[i], nil
	}
	for ; len(s.list) > 0; s.list = s.list[1:] {
		next := s.list[0]
		if next.fault != nil {
			if slices.Contains(options, *next.fault) {
				s.list = s.list[1:]
				return *next.fault, nil
			}
			continue
		}
		i := slices.IndexFunc(v.Tasks, func(t sched.TaskView) bool { return t.Task == next.task })
		if i >= 0 && s.made[next.task] < next.until && v.Tasks[i].Enabled && !v.Tasks[i].Idle {
			return step(&v.Tasks[i])
		}
	}
	for _, any := range [...]bool{false, true} {
		for k := range v.Tasks {
			t := &v.Tasks[(max(v.Last, 0)+k)%len(v.Tasks)]
			if t.Enabled && (any || !t.Idle && !t.Asleep) {
				return step(t)
			}
		}
	}
	return sched.Choice{}, sched.ErrEnd
}
