package engine

import (
	"fmt"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Assertions of tasks, live and on numbers. One that fails fails with the step whose call
// it comes after, or with its task's first.

// assertion remembers the first assertion that fails.
func (w *World) assertion(a *actor, e *learn.Effects) {
	if e.Failed != "" && w.failed == "" {
		w.failed, w.failedBy = e.Failed, a.task
	}
}

// BrokenHere says what the last step of a run broke, or nothing. The error is an assertion
// that fails and that nobody would hear of.
func (w *World) BrokenHere(p *scenarios.Property) (said string, err error) {
	if w.failed != "" && !answersForAssertions(w.sc, p) {
		return "", unclaimedAssertion(w.sc, w.failedBy, w.failed)
	}
	switch {
	case p.Invariant != nil:
		said = p.Invariant(scenarios.NewView(w.M))
	case p.Assertions:
		said = w.failed
	}
	return said, nil
}

// fails reports whether an assertion fails that the property is judged by.
func (x *Space) fails(e *learn.Effects) bool { return x.Property.Assertions && e.Failed != "" }

// heard reports an assertion that fails in what was learned of a task, and that nobody
// would hear of.
func (x *Space) heard(slot int, e *learn.Effects) error {
	if e.Failed == "" || answersForAssertions(x.Sc, x.Property) {
		return nil
	}
	return unclaimedAssertion(x.Sc, x.Slots[slot].Task, e.Failed)
}

// answersForAssertions reports whether assertions of a scenario are judged: they are
// asked about, or claimed to hold or to be broken.
func answersForAssertions(sc *scenarios.Scenario, p *scenarios.Property) bool {
	return p.Assertions || slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Property.Assertions })
}

// unclaimedAssertion is the error for an assertion that fails and that nobody would hear
// of.
func unclaimedAssertion(sc *scenarios.Scenario, task sched.Task, failed string) error {
	return fmt.Errorf("checker: %s: task %s fails the assertion %q, and the scenario claims nothing of assertions: claim the property %s to have them judged",
		sc.ID, task, failed, scenarios.Assertion)
}
