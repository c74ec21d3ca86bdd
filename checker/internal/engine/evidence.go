package engine

import (
	"errors"
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/model"
	"lockpick/scenarios"
)

// ErrNothing is the error for a property that a scenario gives no evidence on.
var ErrNothing = errors.New("nothing to judge")

// An unjudgeable error is an errNothing that says what is missing.
type unjudgeable struct{ text string }

// Error implements error.
func (e unjudgeable) Error() string { return e.text }

// Is makes it an ErrNothing.
func (e unjudgeable) Is(target error) bool { return target == ErrNothing }

// NothingToJudge explains what is missing.
func NothingToJudge(sc *scenarios.Scenario, p *scenarios.Property) error {
	missing := "its tasks record no operation whose answer could violate it"
	switch {
	case p.NeedsProbe():
		missing = "it has no Probe"
	case p.OfCycles():
		missing = "its tasks record no operation that could starve"
	case p.OfHolders:
		missing = "no task notes that it holds a lock"
	case p.Assertions:
		missing = "its tasks assert nothing"
	}
	return unjudgeable{fmt.Sprintf("checker: %s cannot be judged by %s: %s", sc.ID, p, missing)}
}

// Evidence reports whether anything was learned that the property is judged by.
func (x *Space) Evidence() bool {
	if !asksOfTasks(x.Property) {
		return true
	}
	for _, a := range x.automata {
		found := x.Property.Assertions && a.Node(a.First()).Begins.Asserts
		a.Each(func(e learn.Edge) bool {
			if found {
				return false
			}
			output := any(model.Pending{})
			if e.Effects.Returned {
				output = e.Effects.Output
			}
			found = x.Property.OfHolders && e.Effects.Marks() || x.Property.Assertions && e.Effects.Asserts ||
				e.Input != nil && x.Property.Counts(e.Input, output)
			return !found
		})
		if found {
			return true
		}
	}
	return false
}

// asksOfTasks reports whether a property is judged by something that tasks note.
func asksOfTasks(p *scenarios.Property) bool {
	return p.Judgement() == scenarios.ByHistory || p.OfHolders || p.OfCycles() || p.Assertions
}

// Evidence reports whether a run had anything that the property is judged by.
func (w *World) Evidence(p *scenarios.Property) bool {
	switch {
	case p.OfHolders:
		return w.held
	case p.Assertions:
		return w.asserted
	}
	for i := range w.History.Ops {
		if op := &w.History.Ops[i]; p.Counts(op.Input, op.Output) {
			return true
		}
	}
	return !asksOfTasks(p)
}

// Tries reports whether an operation of a task that may starve has begun and not
// returned.
func (x *Space) Tries(row []uint32, slot int) bool {
	word := row[wordNodes+slot]
	n := x.automata[slot].Node(word &^ learn.Begun)
	tries := func(input any) bool { return input != nil && x.Property.Counts(input, model.Pending{}) }
	return tries(n.Open) || word&learn.Begun != 0 && tries(n.Begins.Input)
}
