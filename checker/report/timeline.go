package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/internal/lists"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Timeline draws a result with its counterexample for a person: what was asked, a
// column per task with its calls and what they answered, the watched files at the
// right, the step that went wrong, the cause, and the command that shows it again.
//
// When the columns do not fit, all tasks share one, and bars at its left tell them
// apart. A result without a counterexample gets its verdict and its counts.
func Timeline(w io.Writer, r *checker.Result, o Options) error {
	t := &timeline{newSheet(w, o), r}
	t.header()
	if r.Counterexample == nil {
		t.verdictOnly()
		return t.w.Flush()
	}
	drawingOf(r).draw(t.w, o.Style)
	t.footer()
	return t.w.Flush()
}

type timeline struct {
	sheet
	r *checker.Result
}

// header says what was asked and what came out, in three lines at most.
func (t *timeline) header() {
	r := t.r
	verdict := strings.ToUpper(r.Verdict.String())
	if r.Question.Open() {
		verdict = "IT DEPENDS"
	}
	if r.Claimed && r.Accepted == "" && r.Verdict != checker.Unknown && !r.AsClaimed() {
		verdict += " (claimed: " + r.ClaimText() + ")"
	}
	if r.Accepted != "" {
		verdict += " (accepted: " + r.Accepted + ")"
	}
	head := []piece{pieceOf(bold, Visible(r.Scenario.ID)), pieceOf(verdictInk(r.Verdict), verdict), pieceOf(bold, r.Property.ID)}
	t.flow(head, "  ", "  ")
	if r.Scenario.Summary != "" {
		t.lines(0, plain, wrap(r.Scenario.Summary, t.o.width()))
	}
	t.lines(0, dim, JoinWrapped(Facts(r), t.o.width()))
	if c := r.Counterexample; c != nil && !c.Smallest && r.Why != "" {
		t.lines(0, dim, wrap(r.Why, t.o.width()))
	}
	t.line("")
	if r.Question != nil {
		for i, l := range r.Question.Lines() {
			t.lines(2*min(i+1, 2), plain, wrap(l, t.o.width()-4))
		}
		t.line("")
	}
}

// Facts are the bounds of the setting and the size of the counterexample.
func Facts(r *checker.Result) []string {
	all := []string{r.Scenario.Setting.String()}
	if c := r.Counterexample; c != nil {
		all = append(all, costText(c.Cost, c.Schedule))
		switch {
		case c.Smallest && c.Others:
			all = append(all, "no smaller one of its kind exists")
		case c.Smallest:
			all = append(all, "no smaller one exists")
		case r.Why != "":
			all = append(all, "a smaller one may exist")
		}
	}
	switch {
	case r.Verdict != checker.Broken:
	case r.Odds > 0:
		all = append(all, "hit by "+OddsText(r.Odds))
	case r.OddsWhy != "":
		all = append(all, "odds not known: "+r.OddsWhy)
	}
	return all
}

// costText is the size of a counterexample: "2 preemptions, 10 steps".
func costText(c trace.Cost, s sched.Schedule) string {
	var parts []string
	losses := 0
	for _, choice := range s {
		if choice.Action == sched.PowerLoss {
			losses++
		}
	}
	if kills := c.Crashes - losses; kills > 0 {
		parts = append(parts, numbers.Count(kills, "kill", "kills"))
	}
	if losses > 0 {
		parts = append(parts, numbers.Count(losses, "power loss", "power losses"))
	}
	if c.Stalls > 0 {
		parts = append(parts, numbers.Count(c.Stalls, "jump of the clock", "jumps of the clock"))
	}
	if c.Signals > 0 {
		parts = append(parts, numbers.Count(c.Signals, "signal", "signals"))
	}
	if c.Failing > 0 {
		parts = append(parts, numbers.Count(c.Failing, "call made to fail", "calls made to fail"))
	}
	parts = append(parts, numbers.Count(c.Preemptions, "preemption", "preemptions"),
		numbers.Count(len(s), "step", "steps"))
	return strings.Join(parts, " · ")
}

// OddsText renders the probability of a violation: "1 random run in 40", "31 % of random
// runs"; empty when it is not known or none.
func OddsText(p float64) string {
	switch {
	case p <= 0:
		return ""
	case p >= 0.0995:
		return fmt.Sprintf("%.0f %% of random runs", 100*p)
	case p < 1e-9:
		return fmt.Sprintf("1 random run in %.0e", 1/p)
	}
	return "1 random run in " + numbers.Number(int(math.Round(1/p)))
}

// JoinWrapped joins parts by dots, in lines of at most n columns.
func JoinWrapped(parts []string, n int) []string {
	return Style{}.flow(lists.Map(parts, func(p string) piece { return pieceOf(plain, p) }), " · ", "", n)
}

// verdictOnly says what there is to say without a counterexample.
func (t *timeline) verdictOnly() {
	r := t.r
	says := r.Known()
	if r.Verdict == checker.Holds {
		says = "No schedule of " + r.Scenario.Setting.String() + " breaks it: " + countsText(r, t.o) + "."
		if sc := r.Scenario; sc.External && sc.Setting.Processes == 1 && r.Property.Native == scenarios.OrderedRuns {
			says += " What two of them do to each other was not asked: -n 2 asks it."
		}
	}
	t.lines(2, plain, wrap(says, t.o.width()-2))
	if but := r.Uncontended(); but != "" {
		t.lines(2, warn, wrap("But "+but+".", t.o.width()-2))
	}
	if r.Native != "" {
		t.tell("native", r.Native)
	}
	t.conditions()
}

// conditions says what the verdict depends on. What is broken everywhere is broken, and the
// counterexample says it all.
func (t *timeline) conditions() {
	for _, text := range depends(t.r) {
		t.tell("depends", text)
	}
}

// Beneath is what goes with a verdict, a label and a text each: what came of native runs, what it depends on and, of
// commands, what it assumes.
func Beneath(r *checker.Result) (out [][2]string) {
	say := func(label string, texts ...string) {
		for _, text := range texts {
			if text != "" {
				out = append(out, [2]string{label, text})
			}
		}
	}
	say("native", r.Native)
	say("stalls", r.Survives)
	say("depends", depends(r)...)
	say("assumed", strings.Join(scenarios.Texts(assumed(r)), "; "))
	return out
}

func depends(r *checker.Result) []string {
	if r.Verdict == checker.Broken && !r.Depends() && !r.FollowsOneOrder() {
		return nil
	}
	return scenarios.Texts(r.Conditioned())
}

// labelWidth is the width of the words that stand before what is told.
const labelWidth = 8

// Tell writes a text with a label before its first line, as causes are written.
func (s Style) Tell(label, text string) []string {
	lines := wrap(text, s.width()-labelWidth-2)
	for i := range lines {
		lines[i] = "  " + s.paint(accent, pad(label, labelWidth)) + lines[i]
		label = ""
	}
	return lines
}

// places says where in the source the calls stand that the cause names. A place begins a
// line, with nothing before it but its label: editors and terminals follow it.
func (t *timeline) places() {
	if !t.o.Places {
		return
	}
	label := "source"
	for _, l := range t.o.sources(t.r.Scenario, t.r.Counterexample) {
		for i, part := range wrap(l, t.o.width()-labelWidth-4) {
			t.line("  " + t.o.paint(accent, pad(label, labelWidth)) + strings.Repeat("  ", min(i, 1)) + part)
			label = ""
		}
	}
}

// footer says why, and how to see it again.
func (t *timeline) footer() {
	cx := t.r.Counterexample
	t.table(cx)
	accepted := t.r.AcceptedText()
	if accepted != "" {
		accepted += "."
	}
	label := "also"
	if text := kindText(t.r); text != "" {
		t.tell("kind", text)
	}
	for _, text := range alsoTexts(t.r) {
		t.tell(label, text)
		label = ""
	}
	for _, said := range []struct{ label, text string }{{"cause", cx.Cause}, {"fix", fix(t.r)}, {"accept", accepted},
		{"stderr", strings.Join(cx.Stderr, "; ")}, {"kernel", cx.Kernel}, {"native", t.r.Native},
		{"verdict", t.why()}} {
		if said.text != "" || said.label == "cause" {
			t.tell(said.label, said.text)
		}
	}
	t.conditions()
	t.places()
	t.command("replay", ReplayCommand(t.r, t.o))
}

// fix says what is changed against the kind of cause that programs show, and where to read more; empty for others.
func fix(r *checker.Result) string {
	k, ok := trace.KindOf(r.Counterexample.Code)
	if !ok || !r.Scenario.OfCommands() || r.Question.Open() || k.ID == trace.Unexplained {
		return ""
	}
	text := k.Fix
	if r.Counterexample.Kind == scenarios.Refused {
		text += " If giving up is right, add --refused " + r.Counterexample.Failures()
		if strings.HasPrefix(r.Counterexample.Said, "all refuse") { // each of these may be a refusal already
			text += ",all"
		}
		text += "."
	}
	return fmt.Sprintf("%s (%s, %s: lockpick explain %s)", text, k.ID, k.Name, k.ID)
}

// why says why there is no verdict although there is a counterexample; empty when there is one.
func (t *timeline) why() string {
	if t.r.Verdict == checker.Unknown && t.r.Question == nil {
		return t.r.Why
	}
	return ""
}
