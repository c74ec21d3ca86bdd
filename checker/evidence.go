package checker

import (
	"errors"
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/scenarios"
)

// ErrNothingToJudge is the error for a property that a scenario gives no evidence on:
// nothing that its tasks do could ever violate it, so "holds" would say nothing. It is
// found out by exploring.
var ErrNothingToJudge = errors.New("nothing to judge")

// An unjudgeable error is an ErrNothingToJudge that says what is missing.
type unjudgeable struct{ text string }

func (e unjudgeable) Error() string        { return e.text }
func (e unjudgeable) Is(target error) bool { return target == ErrNothingToJudge }

// nothingToJudge explains what is missing.
func nothingToJudge(sc *scenarios.Scenario, p scenarios.Property) error {
	missing := "no task notes that it holds a lock"
	switch p {
	case scenarios.Starvation:
		missing = "no task records an acquisition"
	case scenarios.Wedge:
		missing = "it has no Probe"
	case scenarios.ForeignRelease:
	default:
		missing = "its tasks record no operation whose answer could violate it"
	}
	return unjudgeable{fmt.Sprintf("checker: %s cannot be judged by %s: %s", sc.ID, p, missing)}
}

// evidence reports whether anything was learned that the property is judged by.
func (x *explorer) evidence() bool {
	if !asksOfTasks(x.property) {
		return true
	}
	for _, a := range x.automata {
		found := false
		a.Each(func(e learn.Edge) bool {
			found = e.Effects.Returned && x.property.Decides(e.Input) ||
				x.property == scenarios.ForeignRelease && e.Effects.Marks() ||
				x.property == scenarios.Starvation && isAcquire(e.Input)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// asksOfTasks reports whether a property is judged by something that tasks note.
func asksOfTasks(p scenarios.Property) bool {
	return p != scenarios.Deadlock && p != scenarios.Wedge
}

// evidence reports whether a run had anything that the property is judged by.
func (w *world) evidence(p scenarios.Property) bool {
	if p == scenarios.ForeignRelease {
		return w.held
	}
	for i := range w.history.Ops {
		op := &w.history.Ops[i]
		returned := op.Return != trace.Never && op.Output != (model.Pending{})
		if p.Decides(op.Input) && returned || p == scenarios.Starvation && isAcquire(op.Input) {
			return true
		}
	}
	return !asksOfTasks(p)
}
