package checker

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// effects is what a task did between two calls, in the order in which it must be
// applied: what ended with the call before, and what begins with the call after. It
// is comparable, so that the exploration can treat it as data.
type effects struct {
	// Ended with the call before.
	returned bool
	output   any
	holds    bool
	holding  scenarios.Holding
	// again is the retry loop that began another round, 0 for none; of several the first,
	// which is the innermost. begun are the loops begun since, or all when there is none.
	again int
	begun [maxBegun]int
	// Begins with the call after.
	invoked bool
	input   any
	letGo   bool
	// pidSeen: the task asked for its own pid.
	pidSeen bool
}

// marks reports whether a task has acquired a lock whose object can be watched.
func (e *effects) marks() bool { return e.holds && e.holding.Path != "" }

// maxBegun bounds how many retry loops begin between two calls, one inside the other.
const maxBegun = 4

// beginLoop adds a loop to those begun.
func (e *effects) beginLoop(loop int) bool {
	for i := range e.begun {
		if e.begun[i] == 0 {
			e.begun[i] = loop
			return true
		}
	}
	return false
}

// digest sums up the notes of a task. before tells what had begun and not yet been
// stamped when the notes came: it is empty unless no call was made in between.
func digest(task string, notes []any) (effects, error) {
	var e effects
	for _, n := range notes {
		switch n := n.(type) {
		case scenarios.Returned:
			if e.invoked {
				return e, fmt.Errorf("checker: %s: operation %v made no call: every recorded operation needs at least one", task, e.input)
			}
			if e.returned {
				return e, fmt.Errorf("checker: %s: two operations returned in one step: an operation was returned that was not invoked", task)
			}
			e.returned, e.output = true, n.Output
		case scenarios.Invoked:
			if e.invoked {
				return e, fmt.Errorf("checker: %s: operation %v begins inside operation %v: operations do not nest", task, n.Input, e.input)
			}
			e.invoked, e.input = true, n.Input
		case scenarios.Holding:
			e.holds, e.holding = true, n
		case scenarios.LetGo:
			e.letGo = true
		case fsfake.RoundTop:
			if n.First && !e.beginLoop(n.Loop) {
				return e, fmt.Errorf("checker: %s: more than %d retry loops begin without a call between them", task, maxBegun)
			}
			if !n.First && e.again == 0 {
				e.again = n.Loop
			}
		case fsfake.PidSeen:
			e.pidSeen = true
		}
	}
	return e, nil
}
