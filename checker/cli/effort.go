package cli

import (
	"fmt"

	"lockpick/checker"
	"lockpick/internal/numbers"
)

// An effort is how much work verdicts have taken, in counts that are the same on every machine.
type effort struct {
	executions, calls, states int
	was                       checker.Progress // what was told last
}

// An inquiry is what is known of commands from one property to the next: what was tried out, whether a property is
// broken, and the effort until one was. Each property after that may take moreTimes that effort, or least if that is
// more.
type inquiry struct {
	tried       *checker.Tried
	broken      bool
	took, least effort
}

const moreTimes = 8

// newInquiry begins one. The least effort takes most commands a few seconds.
func newInquiry() *inquiry {
	return &inquiry{tried: &checker.Tried{}, least: effort{executions: 1000, calls: 6000, states: 200_000}}
}

// follow adds what a search has taken since it told last. Where it counts from the beginning, it is another search.
func (e *effort) follow(g checker.Progress) {
	e.executions += since(g.Executions, e.was.Executions)
	e.calls += since(g.Learned, e.was.Learned)
	e.states += since(g.States, e.was.States)
	e.was = g
}

func since(is, was int) int {
	if is < was {
		return is
	}
	return is - was
}

// beyond says in what an effort for a further property is too much; "" for nothing.
func (q *inquiry) beyond(e *effort) string {
	switch {
	case e.executions > max(q.least.executions, moreTimes*q.took.executions):
		return numbers.Count(e.executions, "run", "runs") + " of the programs"
	case e.calls > max(q.least.calls, moreTimes*q.took.calls):
		return numbers.Count(e.calls, "learned call", "learned calls")
	case e.states > max(q.least.states, moreTimes*q.took.states):
		return numbers.Count(e.states, "state", "states")
	}
	return ""
}

// endedAfter is why a property has no verdict where another is broken.
func endedAfter(what, property string) string {
	const text = "another property is broken, so this one was left after %s; ask it alone with --property %s"
	return fmt.Sprintf(text, what, property)
}
