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

// MarshalText is String, for JSON.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// A Claim is the verdict that a scenario is expected to get.
type Claim struct {
	Property *Property
	// Verdict is Holds or Broken. Broken: it is broken in every case that Where allows, and
	// holds in every other.
	Verdict Verdict
	// Where says, for Broken, which assumptions about the file system it takes to break it. The
	// zero value is none: it is broken everywhere.
	Where Assumptions
}

// Under is the verdict expected under assumptions: where they leave open what breaks it,
// it is broken.
func (c Claim) Under(a Assumptions) Verdict {
	if c.Verdict == Broken && !c.Where.Allows(a) {
		return Holds
	}
	return c.Verdict
}
