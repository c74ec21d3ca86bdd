package saved

import (
	"errors"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/sched"
)

// An aligner makes a schedule in which the tasks make the calls of a recipe in the
// recipe's order. A call that is new is made just before the next one on record; one that
// is made no more is left out.
type aligner struct {
	runner *checker.Runner
	recipe Recipe
	out    sched.Schedule
}

// reach is how many calls that are new a task may make before one on record.
const reach = 12

// align returns a schedule that breaks the property, or nil when the alignment does not.
func (a *aligner) align() (sched.Schedule, error) {
	for i, c := range a.recipe.Schedule {
		var broken sched.Schedule
		var err error
		if c.Action == sched.Run {
			broken, err = a.step(i)
		} else {
			_, broken, err = a.try(c)
		}
		if broken != nil || err != nil {
			return broken, err
		}
	}
	ran, err := a.runner.Run(&leniently{schedule: a.out}, false)
	if err != nil || !ran.Broken {
		return nil, err
	}
	return ran.Schedule, nil
}

// step lets the task of choice i make the call on record. It returns a schedule when that
// breaks the property.
func (a *aligner) step(i int) (broken sched.Schedule, err error) {
	c, want := a.recipe.Schedule[i], a.recipe.Calls[i]
	before := a.out
	var calls []string
	for range reach + 1 {
		made, broken, err := a.try(c)
		if broken != nil || err != nil {
			return broken, err
		}
		if made == "" {
			break
		}
		if calls = append(calls, made); made == want {
			return nil, nil
		}
	}
	same := func(call string) bool { return alike(call, want) }
	k := slices.IndexFunc(calls, same)
	switch {
	case k >= 0:
	case len(calls) == 0 || a.later(i, calls[0]):
		k = -1 // the task makes the call on record no more
	default:
		k = 0 // it makes another one instead
	}
	a.out = before
	for range k + 1 {
		a.out = append(slices.Clip(a.out), c)
	}
	return nil, nil
}

// try appends a choice, if it is possible. It returns the calls of its step, "" when it is
// impossible, and the schedule when that breaks the property.
func (a *aligner) try(c sched.Choice) (made string, broken sched.Schedule, err error) {
	next := append(slices.Clip(a.out), c)
	ran, err := a.runner.Run(sched.Replay{Schedule: next}, true)
	var drift *sched.DriftError
	switch {
	case errors.As(err, &drift):
		return "", nil, nil
	case err != nil:
		return "", nil, err
	case ran.Broken:
		return "", ran.Schedule, nil
	}
	a.out = next
	calls := report.CallsOf(ran.Trace)
	return calls[len(calls)-1], nil, nil
}

// later reports whether a call is one that its task has on record after choice i.
func (a *aligner) later(i int, call string) bool {
	for k := i + 1; k < len(a.recipe.Schedule); k++ {
		if a.recipe.Schedule[k] == a.recipe.Schedule[i] {
			return alike(call, a.recipe.Calls[k])
		}
	}
	return false
}

// alike reports whether two lines are calls of one task and one name, and at one path if
// they are at paths. Descriptors, flags and data may differ.
func alike(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	n := min(len(x), len(y), 3) // task, name, and a path or "fd"
	return len(x) > 1 && len(y) > 1 && slices.Equal(x[:n], y[:n])
}
