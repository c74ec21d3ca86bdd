package site

import (
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// A page is the page of one scenario.
type page struct {
	head
	ID, System, Name string
	Summary, Report  string
	Setting          []fact
	Verdicts         []verdict
	Cases            []*evidence
	Source           template.HTML
	Fix              *fix
}

// A fact is a name and its value.
type fact struct{ Name, Value string }

// A verdict is one line of the table of verdicts.
type verdict struct {
	Property, Meaning     string
	Verdict, Glyph, Claim string
	Differs, Case         bool // Case: there is a counterexample
	Judgement             string
	Coverage              string
	States, Transitions   string
	Histories             string
	Contended, Odds       string
	Beneath               [][2]string // see [report.Beneath]
}

// An evidence is one counterexample.
type evidence struct {
	Property, Wrong string
	Cause           template.HTML
	// Accepted says that the cause was accepted; empty when it was not.
	Accepted string
	// Places are where in the source the calls stand that the cause names, and Kernel is what
	// came of the schedule on a real kernel; empty when nobody knows.
	Places []string
	Kernel string
	// Ends are how the run ends, beside the ends that the property allows; see [report.TableOf].
	Ends    [][]string
	Facts   []string
	Command string
	Player  *player
	Beside  *beside
}

// A beside is the counterexample beside the same order with a change that mends it.
type beside struct {
	Text  string
	Sides []side
}

// A side is one run of the two; the last row of what is broken is marked.
type side struct {
	Broken bool
	Name   string
	Rows   []besideRow
}

type besideRow struct {
	report.BesideRow
	Ink int
}

func newBeside(r *checker.Result) *beside {
	with := r.Counterexample.Beside
	if with == nil {
		return nil
	}
	inked := func(rows []report.BesideRow) (out []besideRow) {
		for _, row := range rows {
			out = append(out, besideRow{row, max(row.Lane, 0) % inks})
		}
		return out
	}
	broken, mended := report.Beside(r)
	return &beside{report.Visible(with.Text), []side{
		{true, "as it is: broken", inked(broken)}, {false, "with the change, in the same order", inked(mended)},
	}}
}

func newPage(sys *system, w *row, o report.Options) *page {
	sc := w.Scenario
	p := &page{
		ID: sc.ID, System: sc.System(), Name: w.Name(), Summary: report.Visible(sc.Summary), Report: sc.Report,
		Setting: settingFacts(&sc.Setting), Source: highlight(visibleSource(sc.Source)), Fix: newFix(sys, w),
	}
	for _, r := range w.Results {
		p.Verdicts = append(p.Verdicts, newVerdict(r))
		if r.Counterexample == nil {
			continue
		}
		p.Cases = append(p.Cases, newEvidence(w, r, o))
	}
	p.head = newHead(sc.ID+" · lockpick", "../", "", asset("player.js"))
	p.Made = o.Made
	return p
}

// visibleSource is a program's text without what a terminal would obey: its lines and its
// tabs stay.
func visibleSource(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		parts := strings.Split(l, "\t")
		for k := range parts {
			parts[k] = report.Visible(parts[k])
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// settingFacts tells the situation that the protocol is put into.
func settingFacts(st *scenarios.Setting) []fact {
	var out []fact
	for _, f := range scenarios.Fields() {
		if f.Title != "" {
			out = append(out, fact{f.Title, f.Tell(st)})
		}
	}
	return out
}

func newVerdict(r *checker.Result) verdict {
	v := verdict{
		Property: r.Property.ID, Meaning: r.Property.Meaning,
		Verdict: r.Verdict.String(), Glyph: report.Glyph(r.Verdict), Claim: "none", Differs: differs(r),
		Case:      r.Counterexample != nil,
		Judgement: judgementText(r.Judgement), Coverage: coverage(r),
		States: number(r.Stats.States), Transitions: number(r.Stats.Transitions),
		Histories: number(r.Stats.Histories),
		Contended: number(r.Stats.Contended), Odds: "—", Beneath: report.Beneath(r),
	}
	if r.Claimed {
		v.Claim = r.ClaimText()
	}
	if text := report.OddsText(r.Odds); text != "" && r.Verdict == checker.Broken {
		v.Odds = text
	}
	return v
}

func number(n int) string {
	if n == 0 {
		return "—"
	}
	return grouped(n)
}

func judgementText(j scenarios.Judgement) string {
	switch j {
	case scenarios.ByHistory:
		return "by history"
	case scenarios.ByInvariant:
		return "in every state"
	case scenarios.ByGraph:
		return "on the graph of states"
	case scenarios.ByAssertion:
		return "by assertion"
	}
	return string(j)
}

// coverage says how much was looked at.
func coverage(r *checker.Result) string {
	switch {
	case r.Complete:
		return "complete"
	case r.Verdict == checker.Broken:
		return "up to the violation"
	case r.Why != "":
		return r.Why
	}
	return "incomplete"
}

func newEvidence(w *row, r *checker.Result, o report.Options) *evidence {
	cx := r.Counterexample
	chart := report.NewChart(w.Scenario, cx)
	c := &evidence{
		Property: r.Property.ID, Cause: linked(r.Property.ID, report.Visible(cx.Cause), len(cx.Schedule)), Wrong: chart.Wrong,
		Places: report.Places(r, o), Kernel: cx.Kernel, Ends: ends(cx), Facts: caseFacts(r),
		Command: report.ReplayCommand(r, o), Player: newPlayer(cx, chart), Accepted: r.AcceptedText(),
		Beside: newBeside(r),
	}
	if strings.Contains(cx.Cause, c.Wrong) {
		c.Wrong = ""
	}
	return c
}

// widestEnd is how many columns a cell of the table of ends shows at most: what a file holds may be long.
const widestEnd = 80

// ends is the table of ends as a page shows it.
func ends(cx *trace.Counterexample) [][]string {
	rows := report.TableOf(cx)
	for _, row := range rows {
		for i := range row {
			row[i] = report.Clip(row[i], widestEnd)
		}
	}
	return rows
}

// linked is a cause whose steps, of so many, are links to them.
func linked(id, cause string, steps int) template.HTML {
	var b strings.Builder
	done := 0
	for _, m := range regexp.MustCompile(`\bsteps? (\d+)`).FindAllStringSubmatchIndex(cause, -1) {
		if n, err := strconv.Atoi(cause[m[2]:m[3]]); err != nil || n > steps {
			continue // it stands in something quoted
		}
		b.WriteString(template.HTMLEscapeString(cause[done:m[0]]))
		fmt.Fprintf(&b, `<a href="#%s-%s">%s</a>`, template.HTMLEscapeString(id), cause[m[2]:m[3]], cause[m[0]:m[1]])
		done = m[1]
	}
	b.WriteString(template.HTMLEscapeString(cause[done:]))
	return template.HTML(b.String()) //nolint:gosec // every piece of the cause is escaped above
}

// caseFacts are the facts of a counterexample, beside its setting, which has a table of its own.
func caseFacts(r *checker.Result) []string {
	out := report.Facts(r)[1:]
	if cycle := r.Counterexample.Cycle; cycle > 0 {
		out = append(out, "the last "+count(cycle, "step repeats", "steps repeat"))
	}
	return out
}

// A fix is a variant of the same system that holds where a scenario is broken.
type fix struct{ Property, Name, Link string }

// newFix finds the variant that holds: in the same situation if there is one, and with a
// source of its own. It is nil when nothing of the scenario is broken, or no variant holds.
func newFix(sys *system, w *row) *fix {
	for _, r := range w.Results {
		if r.Verdict != checker.Broken {
			continue
		}
		var best *row
		for _, other := range sys.Rows {
			have := other.Results.Of(r.Property)
			if have == nil || have.Verdict != checker.Holds || other.Scenario.Variant() == w.Scenario.Variant() {
				continue
			}
			if best == nil || likeness(w, other) > likeness(w, best) {
				best = other
			}
		}
		if best == nil {
			continue
		}
		return &fix{Property: r.Property.ID, Name: best.Name(), Link: strings.TrimPrefix(best.File, "scenarios/")}
	}
	return nil
}

// likeness says how well a variant compares with a scenario: one in the same situation, and one
// that is written in a file of its own, says more.
func likeness(w, other *row) int {
	n := 0
	if other.Scenario.SettingName() == w.Scenario.SettingName() {
		n += 2
	}
	if other.Scenario.Source != w.Scenario.Source {
		n++
	}
	return n
}
