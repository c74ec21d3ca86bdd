package trace

import (
	"strings"

	"lockpick/scenarios"
)

// A Beside is a run of what was broken with a change that mends it, in the order of a counterexample as far as the
// change lets it.
type Beside struct {
	// Text says what is changed.
	Text     string
	Scenario *scenarios.Scenario
	Run      *Counterexample
}

// Names are the calls of a step with the names that they have, without descriptors and what is read and written.
func (s *Step) Names() string {
	var b strings.Builder
	for _, c := range s.Calls {
		b.WriteString(c.Op.Call.String() + " " + c.Op.Path + " " + c.Op.Path2 + "\n")
	}
	return b.String()
}
