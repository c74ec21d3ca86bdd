package trace

import (
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Trace is everything that happened in one run, step by step.
type Trace []Step

// A Step is one choice of a schedule and what came of it.
type Step struct {
	// N counts the steps from 1.
	N      int          `json:"n"`
	Choice sched.Choice `json:"-"`
	// Calls are the calls of the step: one system call, or the cell accesses of one turn.
	Calls []Call `json:"calls,omitempty"`
	// Preempts: the step is a switch away from a task that could have gone on.
	Preempts bool `json:"preempts,omitempty"`
	// Invoked and Returned are the operations of the history that began or ended with
	// the step; nil for none.
	Invoked  any `json:"-"`
	Returned any `json:"-"`
	// Holders are the tasks that hold the lock after the step, in the order of tasks.
	Holders []sched.Task `json:"-"`
	// Files are the watched files after the step, in the scenario's order.
	Files []FileState `json:"files,omitempty"`
	// Procs are the processes that run after the step, in order, and what they have open.
	Procs []ProcState `json:"-"`
	// Clock is the machine's clock after the step.
	Clock time.Time `json:"-"`
	// Exited: the step ended its process.
	Exited bool `json:"exited,omitempty"`
}

// A Call is one call with its result.
type Call struct {
	Op     fsfake.Op
	Result fsfake.Result
}

// A FileState is what stands at a watched name.
type FileState struct {
	Path   string
	Exists bool
	fsfake.FileView
}

// FilesOf looks at a scenario's watched files, in the scenario's order.
func FilesOf(m *fsfake.Machine, sc *scenarios.Scenario) []FileState {
	out := make([]FileState, len(sc.Watch))
	for i, p := range sc.Watch {
		out[i].Path = p
		if id, ok := m.Lookup(p); ok {
			out[i].Exists = true
			out[i].FileView = m.View(id)
		}
	}
	return out
}
