package scenarios

import (
	"fmt"
	"strings"
)

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

// A Kind is how bad the end of a run is that breaks a property; see [Property.Kind].
type Kind uint8

// The kinds, the worst first, after that of properties that do not tell kinds apart.
const (
	NoKind Kind = iota
	// Lost: every command succeeds, or ends as in a serial run, and something is lost or mixed. Nobody notices.
	Lost
	// Mixed: a command fails, and a file is left with contents that no serial run leaves in it.
	Mixed
	// Undone: a command fails, and nothing is left of another one that ended as in a serial run.
	Undone
	// Altered: a command fails, and a file is not as the others leave it without it.
	Altered
	// Failed: a command fails, and something is left beside what the others leave without it.
	Failed
	// Refused: a command fails, and nothing else is wrong.
	Refused
)

// kinds have the name of each, and what it means.
var kinds = [...]struct{ name, meaning string }{
	Lost:    {"lost", "every command ends as in a serial run, and data is lost or mixed"},
	Mixed:   {"mixed", "a command fails, and a file is left with contents that no serial run leaves in it"},
	Undone:  {"undone", "a command fails, and nothing is left of one that ended as in a serial run"},
	Altered: {"altered", "a command fails, and has changed a file all the same"},
	Failed:  {"failed", "a command fails, and leaves a file behind"},
	Refused: {"refused", "a command fails, and has changed nothing"},
}

// String is "lost", "mixed", "undone", "altered", "failed" or "refused"; empty for [NoKind].
func (k Kind) String() string { return kinds[k].name }

// Meaning says in a clause what is so.
func (k Kind) Meaning() string { return kinds[k].meaning }

// KindsText lists the kinds with what they mean, the worst first.
func KindsText() string {
	var texts []string
	for _, k := range kinds[Lost:] {
		texts = append(texts, fmt.Sprintf("%s (%s)", k.name, k.meaning))
	}
	return strings.Join(texts, ", ")
}

// ParseKind reads what String writes.
func ParseKind(text string) (Kind, error) {
	var names []string
	for k := Lost; int(k) < len(kinds); k++ {
		if text == k.String() {
			return k, nil
		}
		names = append(names, k.String())
	}
	return NoKind, fmt.Errorf("kind %q is not known: choose %s", text, strings.Join(names, ", "))
}

// Before reports whether k is to be shown rather than l, when those of kind first come first.
func (k Kind) Before(l, first Kind) bool {
	if (k == first) != (l == first) {
		return k == first
	}
	return k < l
}
