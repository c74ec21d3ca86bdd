package report

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// JSONVersion is the version of the document that [JSON] writes. A field that goes or
// changes its meaning raises it; a new field does not. docs/schema/check-v1.json
// describes version 1.
const JSONVersion = 1

// A jsonDocument is the document that [JSON] writes.
type jsonDocument struct {
	Version int          `json:"version"`
	Results []jsonResult `json:"results"`
	// NotAsked is there for a survey, in which nothing was asked of some hazards.
	NotAsked []NotAsked `json:"not_asked,omitempty"`
}

// A jsonResult is the verdict on one property of one scenario: what was asked, within
// which bounds, and what came out.
type jsonResult struct {
	jsonAsked
	jsonBounds
	jsonFound
}

// MarshalJSON makes one object of the three parts.
func (r jsonResult) MarshalJSON() ([]byte, error) {
	return joinObjects(r.jsonAsked, r.jsonBounds, r.jsonFound)
}

type jsonAsked struct {
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	Verdict  string `json:"verdict"`
	// Claim is empty when the scenario claims nothing of the property.
	Claim string `json:"claim,omitempty"`
	// Judgement is the kind of evidence: history, invariant or graph.
	Judgement string `json:"judgement"`
	// Processes counts the tasks of all processes.
	Processes int `json:"processes"`
}

type jsonFound struct {
	Complete bool `json:"complete"`
	// Why says which budget ended first.
	Why string `json:"why,omitempty"`
	// Within is what was covered of a space that was not: every schedule with so many preemptions.
	Within *checker.Within `json:"within,omitempty"`
	// Accepted is the code of the cause for which what is broken was accepted.
	Accepted string `json:"accepted,omitempty"`
	// Native is what came of running commands natively, if anybody has.
	Native string `json:"native,omitempty"`
	// Survives is which stall processes survive that a longer one breaks, if anybody has tried shorter ones.
	Survives string `json:"survives,omitempty"`
	// AnyNumber is for which number of processes and kills it is proved beside those of the setting.
	AnyNumber string `json:"any_number,omitempty"`
	// BrokenWith is a larger number of processes that breaks it.
	BrokenWith int `json:"broken_with,omitempty"`
	// Question is what only the user knows, where the verdict depends on it.
	Question *trace.Question `json:"question,omitempty"`
	// Cases are the verdicts in each case of what file systems do differently.
	Cases []checker.Case `json:"cases,omitempty"`
	// Conditions says in sentences what the verdict depends on.
	Conditions []string `json:"conditions,omitempty"`
	// ConditionCodes name the kinds of Conditions, in their order; so do AssumedCodes.
	ConditionCodes []string `json:"condition_codes,omitempty"`
	// Unconditional: there is a verdict, and it depends on none; that it is the same in all cases is no condition.
	Unconditional bool `json:"unconditional"`
	// Assumed says in sentences what is taken for granted of the world outside of real programs.
	Assumed      []string `json:"assumed,omitempty"`
	AssumedCodes []string `json:"assumed_codes,omitempty"`
	States       int      `json:"states"`
	Transitions  int      `json:"transitions"`
	Schedules    int      `json:"schedules"`
	Histories    int      `json:"histories"`
	// Symmetry: of states that differ only in who is who one was kept, and counted.
	Symmetry bool `json:"symmetry,omitempty"`
	Reduced  bool `json:"reduced,omitempty"`
	// Contended counts the steps that met somebody else's lock.
	Contended int `json:"contended"`
	// Odds is there when it was computed, OddsWhy when it should have been.
	Odds    *float64 `json:"odds,omitempty"`
	OddsWhy string   `json:"odds_why,omitempty"`
	// ElapsedMS is there when timings were asked for: it is the only field that differs
	// between two runs.
	ElapsedMS      *int64              `json:"elapsed_ms,omitempty"`
	Counterexample *jsonCounterexample `json:"counterexample,omitempty"`
	// Also has a counterexample of each other kind that was found.
	Also []jsonAlso `json:"also,omitempty"`
}

// A jsonBounds is a setting, as far as its table of fields has keys for it.
type jsonBounds struct{ setting scenarios.Setting }

// MarshalJSON writes the fields in the order of the table.
func (b jsonBounds) MarshalJSON() ([]byte, error) {
	var members []any
	for _, f := range scenarios.Fields() {
		if v, there := f.Value(&b.setting); there {
			members = append(members, map[string]any{f.JSON: v})
		}
	}
	return joinObjects(members...)
}

// joinObjects makes one JSON object of the members of several.
func joinObjects(parts ...any) ([]byte, error) {
	out := []byte{'{'}
	for _, p := range parts {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(p); err != nil {
			return nil, err
		}
		members := bytes.TrimSpace(b.Bytes())
		if members = members[1 : len(members)-1]; len(members) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, members...)
	}
	return append(out, '}'), nil
}

// A jsonCounterexample is the evidence for a verdict "broken".
type jsonCounterexample struct {
	// Kind is how bad its end is: lost, failed or refused; empty where kinds are not told apart.
	Kind         string   `json:"kind,omitempty"`
	Schedule     string   `json:"schedule"`
	Steps        int      `json:"steps"`
	Preemptions  int      `json:"preemptions"`
	Crashes      int      `json:"crashes"`
	Stalls       int      `json:"stalls"`
	FailingCalls int      `json:"failing_calls,omitempty"`
	Signals      int      `json:"signals,omitempty"`
	Smallest     bool     `json:"smallest"`
	Cause        string   `json:"cause"`
	Code         string   `json:"code"`
	Waits        []string `json:"waits,omitempty"`
	// Table shows what is wrong at the end, under a heading.
	Table [][]string `json:"table,omitempty"`
	// Kernel is what came of carrying it out on the real kernel, if anybody has.
	Kernel string `json:"kernel,omitempty"`
	// Stderr is the last line that each command that failed has written there, when it was carried out.
	Stderr []string `json:"stderr,omitempty"`
	// Culprit is where the call stands that went wrong; nil when that is not known.
	Culprit *jsonPlace `json:"culprit,omitempty"`
	// Trace are the steps.
	Trace []jsonStep `json:"trace"`
}

// A jsonPlace is a place in the source, and the step whose call it makes.
type jsonPlace struct {
	Step     int    `json:"step"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"`
}

// A jsonStep is one step in the words of the timeline.
type jsonStep struct {
	// Task is empty for what happens to everybody.
	Task string `json:"task,omitempty"`
	Text string `json:"text"`
	// File and Line are there when the source is known.
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

// jsonTrace are the steps of a counterexample, and the one that went wrong.
func jsonTrace(r *checker.Result, o Options) (steps []jsonStep, culprit *jsonPlace) {
	chart := NewChart(r.Scenario, r.Counterexample)
	for i := range chart.Rows {
		row, s := &chart.Rows[i], sourceOf(&r.Counterexample.Trace[i])
		j := jsonStep{Text: row.text(), File: o.file(s.File), Line: s.Line}
		if row.Lane >= 0 {
			j.Task = chart.Lanes[row.Lane].Name
		}
		steps = append(steps, j)
	}
	if at := Culprit(r.Counterexample); at != nil {
		s := sourceOf(at)
		culprit = &jsonPlace{at.N, o.file(s.File), s.Line, s.Func}
	}
	return steps, culprit
}

// JSON writes results as one JSON document.
func JSON(w io.Writer, results []checker.Result, o Options) error {
	doc := jsonDocument{Version: JSONVersion, Results: make([]jsonResult, 0, len(results)), NotAsked: o.NotAsked}
	for i := range results {
		doc.Results = append(doc.Results, newJSONResult(&results[i], o))
	}
	return writeJSON(w, doc)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func newJSONResult(r *checker.Result, o Options) jsonResult {
	j := jsonResult{
		jsonAsked: jsonAsked{
			Scenario: r.Scenario.ID, Property: r.Property.ID, Verdict: r.Verdict.String(),
			Judgement: string(r.Judgement), Processes: r.Scenario.Setting.Contenders(),
		},
		jsonBounds: jsonBounds{r.Scenario.Setting},
		jsonFound: jsonFound{
			Complete: r.Complete, Why: r.Why,
			States: r.Stats.States, Transitions: r.Stats.Transitions,
			Schedules: r.Stats.Schedules, Histories: r.Stats.Histories, Contended: r.Stats.Contended, OddsWhy: r.OddsWhy,
			Symmetry: r.Stats.Symmetry, Reduced: r.Stats.Reduced, Native: r.Native, Accepted: r.Accepted,
			Survives:  r.Survives,
			AnyNumber: r.AnyNumber, BrokenWith: r.BrokenWith, Within: r.Within, Question: r.Question, Cases: r.Cases,
			Unconditional: r.Unconditional(),
		},
	}
	conditions := r.Conditioned()
	j.Conditions, j.ConditionCodes = scenarios.Texts(conditions), premiseCodes(conditions)
	premises := assumed(r)
	j.Assumed, j.AssumedCodes = scenarios.Texts(premises), premiseCodes(premises)
	if r.Claimed {
		j.Claim = r.Claim.String()
	}
	if r.Verdict == checker.Broken && r.Odds > 0 {
		odds := significant(r.Odds)
		j.Odds = &odds
	}
	if o.Timings {
		ms := r.Elapsed.Milliseconds()
		j.ElapsedMS = &ms
	}
	if c := r.Counterexample; c != nil {
		j.Counterexample = &jsonCounterexample{
			Kind: c.Kind.String(), Schedule: c.Schedule.String(), Steps: c.Cost.Steps, Preemptions: c.Cost.Preemptions,
			Crashes: c.Cost.Crashes, Stalls: c.Cost.Stalls, FailingCalls: c.Cost.Failing, Signals: c.Cost.Signals, Smallest: c.Smallest,
			Cause: c.Cause, Code: c.Code, Waits: trace.WaitTexts(c.Waits), Kernel: c.Kernel,
			Stderr: c.Stderr, Table: TableOf(c),
		}
		j.Also = newJSONAlso(r)
		j.Counterexample.Trace, j.Counterexample.Culprit = jsonTrace(r, o)
	}
	return j
}

func premiseCodes(all []scenarios.Premise) []string {
	return lists.Map(all, func(p scenarios.Premise) string { return p.Code })
}

// A jsonScenario is one line of [ListJSON].
type jsonScenario struct {
	jsonAbout
	jsonBounds
	jsonClaims
}

// MarshalJSON makes one object of the three parts.
func (s jsonScenario) MarshalJSON() ([]byte, error) {
	return joinObjects(s.jsonAbout, s.jsonBounds, s.jsonClaims)
}

type jsonAbout struct {
	ID      string `json:"id"`
	Summary string `json:"summary,omitempty"`
	Report  string `json:"report,omitempty"`
	// The next three are what --shape, --hazard and --project choose by.
	Shape     string   `json:"shape,omitempty"`
	Hazard    string   `json:"hazard"`
	Projects  []string `json:"projects,omitempty"`
	Processes int      `json:"processes"`
}

type jsonClaims struct {
	Claims []jsonClaim `json:"claims"`
}

type jsonClaim struct {
	Property string `json:"property"`
	Verdict  string `json:"verdict"`
	// Where is what it takes for a verdict "broken"; elsewhere it holds.
	Where string `json:"where,omitempty"`
}

// ListJSON writes scenarios as one JSON document.
func ListJSON(w io.Writer, list []scenarios.Scenario) error {
	doc := struct {
		Version   int            `json:"version"`
		Scenarios []jsonScenario `json:"scenarios"`
	}{Version: JSONVersion, Scenarios: make([]jsonScenario, 0, len(list))}
	for i := range list {
		s := &list[i]
		j := jsonScenario{
			jsonAbout{s.ID, s.Summary, s.Report, s.Entry.Shape, s.Hazard(), s.Entry.Projects, s.Setting.Contenders()},
			jsonBounds{s.Setting}, jsonClaims{make([]jsonClaim, 0, len(s.Claims))},
		}
		for _, c := range s.Claims {
			claim := jsonClaim{Property: c.Property.ID, Verdict: c.Verdict.String()}
			if c.Where != (scenarios.Assumptions{}) {
				claim.Where = c.Where.String()
			}
			j.Claims = append(j.Claims, claim)
		}
		doc.Scenarios = append(doc.Scenarios, j)
	}
	return writeJSON(w, doc)
}

// significant rounds to the digits that the odds are good for: around retry loops the
// last ones depend on the order in which states were numbered.
func significant(odds float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(odds, 'g', 9, 64), 64)
	if err != nil {
		return odds
	}
	return rounded
}
