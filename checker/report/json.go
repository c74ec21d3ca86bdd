package report

import (
	"encoding/json"
	"io"
	"strconv"

	"lockpick/checker"
	"lockpick/scenarios"
)

// JSONVersion is the version of the document that [JSON] writes. A field that goes or
// changes its meaning raises it; a new field does not. docs/schema/check-v1.json
// describes version 1.
const JSONVersion = 1

// A JSONDocument is the document that [JSON] writes.
type JSONDocument struct {
	Version int          `json:"version"`
	Results []JSONResult `json:"results"`
}

// A JSONResult is the verdict on one property of one scenario.
type JSONResult struct {
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	Verdict  string `json:"verdict"`
	// Claim is empty when the scenario claims nothing of the property.
	Claim string `json:"claim,omitempty"`
	// Judgement is the kind of evidence: history, invariant or graph.
	Judgement string `json:"judgement"`
	// Processes counts the tasks of all processes.
	Processes int `json:"processes"`
	jsonBounds
	Complete bool `json:"complete"`
	// Why says which budget ended first.
	Why         string `json:"why,omitempty"`
	States      int    `json:"states"`
	Transitions int    `json:"transitions"`
	Schedules   int    `json:"schedules"`
	Histories   int    `json:"histories"`
	// Odds is there when it was computed.
	Odds *float64 `json:"odds,omitempty"`
	// ElapsedMS is there when timings were asked for: it is the only field that differs
	// between two runs.
	ElapsedMS      *int64              `json:"elapsed_ms,omitempty"`
	Counterexample *JSONCounterexample `json:"counterexample,omitempty"`
}

// jsonBounds are how many faults were allowed.
type jsonBounds struct {
	Crashes int `json:"crashes"`
	Stalls  int `json:"stalls"`
	// StallFor is by how much a stall moves the clock, such as "20s"; it is there when
	// there are stalls.
	StallFor    string `json:"stall_for,omitempty"`
	PowerLosses int    `json:"power_losses,omitempty"`
}

func boundsOf(st *scenarios.Setting) jsonBounds {
	b := jsonBounds{Crashes: st.Crashes, Stalls: st.Stalls, PowerLosses: st.PowerLosses}
	if st.Stalls > 0 {
		b.StallFor = st.StallFor.String()
	}
	return b
}

// A JSONCounterexample is the evidence for a verdict "broken".
type JSONCounterexample struct {
	Schedule    string   `json:"schedule"`
	Steps       int      `json:"steps"`
	Preemptions int      `json:"preemptions"`
	Crashes     int      `json:"crashes"`
	Stalls      int      `json:"stalls"`
	Smallest    bool     `json:"smallest"`
	Cause       string   `json:"cause"`
	Waits       []string `json:"waits,omitempty"`
}

// JSON writes results as one JSON document.
func JSON(w io.Writer, results []checker.Result, o Options) error {
	doc := JSONDocument{Version: JSONVersion, Results: make([]JSONResult, 0, len(results))}
	for i := range results {
		doc.Results = append(doc.Results, jsonResult(&results[i], o))
	}
	return writeJSON(w, doc)
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func jsonResult(r *checker.Result, o Options) JSONResult {
	st := &r.Scenario.Setting
	j := JSONResult{
		Scenario: r.Scenario.ID, Property: string(r.Property), Verdict: r.Verdict.String(),
		Judgement: string(r.Judgement), Processes: st.Contenders(), jsonBounds: boundsOf(st),
		Complete: r.Complete, Why: r.Why,
		States: r.Stats.States, Transitions: r.Stats.Transitions,
		Schedules: r.Stats.Schedules, Histories: r.Stats.Histories,
	}
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
		j.Counterexample = &JSONCounterexample{
			Schedule: c.Schedule.String(), Steps: c.Cost.Steps, Preemptions: c.Cost.Preemptions,
			Crashes: c.Cost.Crashes, Stalls: c.Cost.Stalls, Smallest: c.Smallest,
			Cause: c.Cause, Waits: c.Waits,
		}
	}
	return j
}

// A jsonScenario is one line of [ListJSON].
type jsonScenario struct {
	ID        string `json:"id"`
	Summary   string `json:"summary,omitempty"`
	Report    string `json:"report,omitempty"`
	Processes int    `json:"processes"`
	jsonBounds
	Claims []jsonClaim `json:"claims"`
}

type jsonClaim struct {
	Property string `json:"property"`
	Verdict  string `json:"verdict"`
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
			ID: s.ID, Summary: s.Summary, Report: s.Report, Processes: s.Setting.Contenders(),
			jsonBounds: boundsOf(&s.Setting), Claims: make([]jsonClaim, 0, len(s.Claims)),
		}
		for _, c := range s.Claims {
			j.Claims = append(j.Claims, jsonClaim{string(c.Property), c.Verdict.String()})
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
