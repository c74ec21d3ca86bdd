//go:build !linux

package real

import (
	"context"
	"errors"

	"lockpick/scenarios"
	"lockpick/sched"
)

// Replay fails: there is no real machine but on Linux.
func Replay(context.Context, *scenarios.Scenario, *scenarios.Property, sched.Schedule) (Report, error) {
	return Report{}, errors.New("real: schedules can be replayed on the real disk under Linux only")
}
