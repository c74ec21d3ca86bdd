// Package scenarios stands for the real one.
package scenarios

import (
	"time"

	"lockpick/fsfake"
)

type Task struct{ *fsfake.Proc }

// The machinery is not looked at.
func (t *Task) Record(what any) { _ = time.Now() }

type Program func(t *Task)
