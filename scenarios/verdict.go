package scenarios

// A Verdict is the answer to "does the property hold?".
type Verdict uint8

// The verdicts. Unknown is the zero value and is never folded into Holds.
const (
	// Unknown: a budget ended before the space was covered.
	Unknown Verdict = iota
	// Holds: every state within the bounds was visited, and none violates the property.
	Holds
	// Broken: there is a counterexample.
	Broken
)

// String returns "unknown", "holds" or "broken".
func (v Verdict) String() string { return [...]string{"unknown", "holds", "broken"}[v] }

// A Claim is the verdict that a scenario is expected to get.
type Claim struct {
	Property *Property
	Verdict  Verdict
}
