package learn

import (
	"cmp"
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Effects is what a task did between two calls, in the order in which it must be
// applied: what ended with the call before, and what begins with the call after. It
// is comparable, so that the exploration can treat it as data.
type Effects struct {
	// Ended with the call before.
	Returned bool
	Output   any
	Holds    bool
	Holding  scenarios.Holding
	// Again is the retry loop that began another round, 0 for none; of several the first,
	// which is the innermost. begun are the loops begun since, or all when there is none.
	Again int
	Begun [MaxBegun]int
	// Begins with the call after.
	Invoked bool
	Input   any
	LetGo   bool
	OfFirst bool // what is let go is the first task's
	// Asserts: the task asserted something after the call before. Failed is the text of the
	// first assertion that was not so, empty for none.
	Asserts bool
	Failed  string
	// By is who makes the call, when it is not the task itself.
	By fsfake.Task
	// Seen is what the task looked at.
	Seen fsfake.Seen
}

// Marks reports whether a task has acquired a lock whose object can be watched.
func (e *Effects) Marks() bool { return e.Holds && e.Holding.Path != "" }

// MaxBegun bounds how many retry loops begin between two calls, one inside the other.
const MaxBegun = 4

// beginLoop adds a loop to those begun.
func (e *Effects) beginLoop(loop int) bool {
	for i := range e.Begun {
		if e.Begun[i] == 0 {
			e.Begun[i] = loop
			return true
		}
	}
	return false
}

// Digest sums up the notes of a task. before tells what had begun and not yet been
// stamped when the notes came: it is empty unless no call was made in between.
func Digest(task string, notes []any) (Effects, error) {
	var e Effects
	for _, n := range notes {
		switch n := n.(type) {
		case scenarios.Returned:
			if e.Invoked {
				return e, fmt.Errorf("checker: %s: operation %v made no call: every recorded operation needs at least one", task, e.Input)
			}
			if e.Returned {
				return e, fmt.Errorf("checker: %s: two operations returned in one step: an operation was returned that was not invoked", task)
			}
			e.Returned, e.Output = true, n.Output
		case scenarios.Invoked:
			if e.Invoked {
				return e, fmt.Errorf("checker: %s: operation %v begins inside operation %v: operations do not nest", task, n.Input, e.Input)
			}
			e.Invoked, e.Input = true, n.Input
		case scenarios.Holding:
			e.Holds, e.Holding = true, n
		case scenarios.LetGo:
			e.LetGo = true
		case scenarios.LetGoFirst:
			e.LetGo, e.OfFirst = true, true
		case scenarios.Asserted:
			e.Asserts = true
			if !n.OK && e.Failed == "" {
				e.Failed = cmp.Or(n.Text, "an assertion without a text")
			}
		case fsfake.RoundTop:
			if n.First && !e.beginLoop(n.Loop) {
				return e, fmt.Errorf("checker: %s: more than %d retry loops begin without a call between them", task, MaxBegun)
			}
			if !n.First && e.Again == 0 {
				e.Again = n.Loop
			}
		case scenarios.By:
			e.By = n.Task
		case fsfake.Seen:
			e.Seen |= n
		}
	}
	return e, nil
}
