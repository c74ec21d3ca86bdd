package scenarios

import (
	"lockpick/fsfake"
	"lockpick/model"
)

// A Program is what one task runs, from its start to its end.
type Program func(t *Task)

// A Task is a simulated thread or async task: its view of the machine, and the means
// to record the operations that the history is made of.
type Task struct {
	*fsfake.Proc
	// Process names the process: "A", "B", … It is the owner in histories.
	Process string
	// Index counts the processes from 0, as Scenario.Program does.
	Index int
}

// Invoked is noted when an operation begins. Its time is that of the operation's
// first step.
type Invoked struct{ Input any }

// Returned is noted when the operation begun last has returned. Its time is that of
// the operation's last step.
type Returned struct{ Output any }

// Holding is noted when an acquisition returns: from then on the task holds the lock
// at Path. FD is the descriptor through which it knows the lock object, or -1 when the
// object is whatever stands at Path at that moment.
type Holding struct {
	Path string
	FD   int
}

// LetGo is noted when a release begins: it takes effect with the release's first step.
type LetGo struct{}

// Record runs f as one operation of the history: invoked with input at f's first
// step, returned with f's result at its last. f must make at least one step. An
// operation must not contain another.
func Record[O comparable](t *Task, input any, f func() O) O {
	t.Note(Invoked{input})
	out := f()
	t.Note(Returned{out})
	return out
}

// Acquire records f as an acquisition by the task's process. When f succeeds the task
// holds the lock at path from f's last step on.
func (t *Task) Acquire(path string, f func() (Hold, error)) (Hold, error) {
	var h Hold
	var err error
	t.Note(Invoked{model.Acquire{Owner: t.Process}})
	h, err = f()
	t.Note(Returned{model.Acquired{OK: err == nil, Shared: h.Shared}})
	if err == nil {
		fd := -1
		if h.File != nil {
			fd = h.File.Fd()
		}
		t.Note(Holding{Path: path, FD: fd})
	}
	return h, err
}

// Release records f as the release of what the task holds. The task is outside the
// critical section from f's first step on.
func (t *Task) Release(f func() error) error {
	t.Note(LetGo{})
	t.Note(Invoked{model.Release{Owner: t.Process}})
	err := f()
	t.Note(Returned{model.Released{}})
	return err
}
