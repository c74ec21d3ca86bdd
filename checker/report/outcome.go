package report

import (
	"bufio"
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/scenarios"
)

// An outcome is what a CI system makes of a result.
type outcome uint8

const (
	// passed: the verdict is as claimed, or nothing was claimed of what is not real programs.
	passed outcome = iota
	// failed: the verdict is not the one claimed, or real programs are broken.
	failed
	// undecided: there is no verdict, which is never a pass.
	undecided
)

func outcomeOf(r *checker.Result) outcome {
	switch {
	case r.Verdict == checker.Unknown:
		return undecided
	case r.Accepted != "":
		return passed
	case r.Claimed && !r.AsClaimed():
		return failed
	case !r.Claimed && r.Scenario.OfCommands() && r.Verdict == checker.Broken:
		return failed // who runs commands wants to know whether they hold
	}
	return passed
}

// headline is a result in one line: "ctx/excl/crash: wedge is broken, and the claim is
// holds".
func headline(r *checker.Result) string {
	text := fmt.Sprintf("%s: %s ", Visible(r.Scenario.ID), r.Property)
	switch r.Verdict {
	case checker.Broken:
		text += "is broken"
	case checker.Holds:
		text += "holds"
	default:
		text += "is undecided"
	}
	if outcomeOf(r) == failed && r.Claimed {
		text += ", and the claim is: " + r.ClaimText()
	}
	if r.Accepted != "" {
		text += ", which is accepted: " + r.Accepted
	}
	return text
}

// detail is what there is to say below a headline: the cause and the command that
// shows it, or why there is no verdict.
func detail(r *checker.Result, o Options) string {
	var lines []string
	switch c := r.Counterexample; {
	case c != nil:
		if c.Cause != "" {
			lines = append(lines, Visible(c.Cause))
		}
		lines = append(lines, r.Scenario.Setting.String()+" · "+costText(c.Cost, c.Schedule), "replay: "+ReplayCommand(r, o))
	case r.Why != "":
		lines = append(lines, Visible(r.Known()))
	default:
		lines = append(lines, evidenceText(r))
	}
	if text := r.AcceptedText(); text != "" {
		lines = append(lines, text)
	}
	return strings.Join(append(lines, r.Conditions()...), "\n")
}

// plainDrawing is the drawing of a counterexample alone, without colours.
func plainDrawing(r *checker.Result, o Options) string {
	var text strings.Builder
	b := bufio.NewWriter(&text)
	o.Color = false
	drawingOf(r).draw(b, o.Style)
	_ = b.Flush()
	return strings.TrimRight(text.String(), "\n")
}

// plainTimeline is the timeline as a text without colours.
func plainTimeline(r *checker.Result, o Options) (string, error) {
	o.Color = false
	var b strings.Builder
	err := Timeline(&b, r, o)
	return strings.TrimRight(b.String(), "\n"), err
}

// Evidence is a counterexample without colours, as [Timeline] draws it, but without the
// command that shows it again: for callers that have a command of their own.
func Evidence(r *checker.Result, o Options) string {
	var text strings.Builder
	o.Color = false
	t := &timeline{newSheet(&text, o), r}
	t.header()
	if r.Counterexample == nil {
		t.verdictOnly()
	} else {
		t.line(plainDrawing(r, o))
		if r.Counterexample.Cause != "" {
			t.line("")
		}
		t.tell("cause", r.Counterexample.Cause)
		t.places()
	}
	_ = t.w.Flush()
	return strings.TrimRight(text.String(), "\n")
}

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
		out = append(out, "not known: whether data can be lost while every command succeeds")
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
