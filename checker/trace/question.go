package trace

import (
	"fmt"

	"lockpick/scenarios"
)

// A Question is what only the user can answer, where a verdict depends on it: what an exit status of a command means.
type Question struct {
	// Ask is the question, as a sentence. Yes and No say what follows from either answer.
	Ask string `json:"ask"`
	Yes Answer `json:"yes"`
	No  Answer `json:"no"`
}

// An Answer is how to give it, as flags of run, and the verdict then.
type Answer struct {
	Flags   string            `json:"flags"`
	Verdict scenarios.Verdict `json:"verdict"`
}

// Open reports whether the answers lead to different verdicts.
func (q *Question) Open() bool { return q != nil && q.Yes.Verdict != q.No.Verdict }

// String is the answer's consequence: "--refused 1, and it holds".
func (a Answer) String() string { return fmt.Sprintf("%s, and it %s", a.Flags, verbs[a.Verdict]) }

var verbs = map[scenarios.Verdict]string{
	scenarios.Holds: "holds", scenarios.Broken: "is broken", scenarios.Unknown: "is unknown",
}

// Lines are the question and its answers, for a person: a question with one verdict either way is a sentence.
func (q *Question) Lines() []string {
	if !q.Open() {
		return []string{fmt.Sprintf("%s It %s either way.", q.Ask, verbs[q.Yes.Verdict])}
	}
	return []string{q.Ask, "yes: " + q.Yes.String(), "no: " + q.No.String()}
}
