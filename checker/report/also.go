package report

import (
	"fmt"

	"lockpick/checker"
	"lockpick/scenarios"
)

// kindText says how bad the end of a counterexample is; "" where nobody has to be told: nothing else was found, and
// it is the worst.
func kindText(r *checker.Result) string {
	k := r.Counterexample.Kind
	if k == scenarios.NoKind || k == scenarios.Lost && len(r.Also) == 0 && !r.Counterexample.Others {
		return ""
	}
	return fmt.Sprintf("%s: %s", k, k.Meaning())
}

// alsoTexts says in a line each in which other kinds the property is broken, and what is not known of them.
func alsoTexts(r *checker.Result) (out []string) {
	worst := r.Counterexample.Kind
	for _, cx := range r.Also {
		worst = min(worst, cx.Kind)
		out = append(out, fmt.Sprintf("%s: %s (%s); see it with --kind %[1]s", cx.Kind, cx.Kind.Meaning(),
			costText(cx.Cost, cx.Schedule)))
	}
	refusing := r.Question != nil && r.Question.Yes.Verdict == checker.Holds // nothing is lost where all succeed
	if worst > scenarios.Lost && !r.Complete && !refusing {
		out = append(out, fmt.Sprintf("not known: whether %s", scenarios.Lost.Meaning()))
	}
	return out
}

// A jsonAlso is a counterexample of another kind.
type jsonAlso struct {
	Kind        string `json:"kind"`
	Schedule    string `json:"schedule"`
	Steps       int    `json:"steps"`
	Preemptions int    `json:"preemptions"`
	Smallest    bool   `json:"smallest"`
}

func newJSONAlso(r *checker.Result) (out []jsonAlso) {
	for _, cx := range r.Also {
		out = append(out, jsonAlso{
			cx.Kind.String(), cx.Schedule.String(), cx.Cost.Steps, cx.Cost.Preemptions, cx.Smallest,
		})
	}
	return out
}
