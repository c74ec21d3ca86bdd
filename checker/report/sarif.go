package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/docs"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// SARIFVersion is the version of the format that [SARIF] writes.
const SARIFVersion = "2.1.0"

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF writes what is not as claimed as a SARIF 2.1.0 log, for code scanning. Each property is a rule, and of
// programs each kind of cause, whose help is its page with right code. A verdict that differs from its claim is an
// error, with its counterexample as a code flow of one thread flow for each task. A verdict that could not be reached
// is a warning. What is as claimed is no finding and is left out.
//
// A result is shown at the line of the source whose call went wrong. Of real programs without
// debug information it is the script, or the line of an archive, that made it. Where that is not
// known, the scenario's id takes the place of a file, so that readers that insist on a
// place have it.
func SARIF(w io.Writer, results []checker.Result, o Options) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "lockpick", Version: cmp.Or(moduleVersion(), "0.0.0-devel"),
			InformationURI: home(reflect.TypeFor[sarifRun]().PkgPath()), Rules: sarifRules(results),
		}},
		ColumnKind: "unicodeCodePoints",
		Results:    []sarifResult{},
	}
	for i := range results {
		if r := &results[i]; outcomeOf(r) != passed {
			run.Results = append(run.Results, sarifResultOf(r, run.Tool.Driver.Rules, o))
		}
	}
	return writeJSON(w, sarifLog{Schema: sarifSchema, Version: SARIFVersion, Runs: []sarifRun{run}})
}

// moduleVersion is the version that the program was built from, without its "v"; empty for one from a work tree.
func moduleVersion() string {
	if b, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(b.Main.Version, "v") {
		return b.Main.Version[1:]
	}
	return ""
}

// home is the page of the module that a package of it is in, this one: none while its path names no host.
func home(pkg string) string {
	module := strings.TrimSuffix(pkg, "/checker/report")
	if host, _, _ := strings.Cut(module, "/"); !strings.Contains(host, ".") {
		return ""
	}
	return "https://" + module
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri,omitempty"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string    `json:"id"`
	Name             string    `json:"name,omitempty"`
	ShortDescription sarifText `json:"shortDescription"`
	FullDescription  sarifText `json:"fullDescription"`
	Help             sarifText `json:"help"`
}

type sarifText struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Kind         string            `json:"kind"`
	Level        string            `json:"level"`
	Message      sarifText         `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	CodeFlows    []sarifCodeFlow   `json:"codeFlows,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Properties   *sarifProperties  `json:"properties,omitempty"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	Message  *sarifText     `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine int `json:"startLine"`
}

type sarifLogical struct {
	Name          string `json:"name"`
	QualifiedName string `json:"fullyQualifiedName"`
	Kind          string `json:"kind"`
}

type sarifCodeFlow struct {
	Message     sarifText         `json:"message"`
	ThreadFlows []sarifThreadFlow `json:"threadFlows"`
}

type sarifThreadFlow struct {
	ID        string            `json:"id"`
	Locations []sarifThreadStep `json:"locations"`
}

type sarifThreadStep struct {
	Location   sarifLocation `json:"location"`
	Order      int           `json:"executionOrder"`
	Importance string        `json:"importance"`
}

// sarifProperties are what only lockpick knows of a result.
type sarifProperties struct {
	Schedule string `json:"schedule"`
	Replay   string `json:"replay"`
}

// sarifRules lists the properties that the results are about, in the order of reports, and then the kinds of causes
// of programs that are broken.
func sarifRules(results []checker.Result) []sarifRule {
	rules := []sarifRule{}
	rules = append(rules, lists.Map(Properties(results), sarifProperty)...)
	for i := range results {
		r := sarifRuleOf(&results[i])
		if !slices.ContainsFunc(rules, func(have sarifRule) bool { return have.ID == r.ID }) {
			rules = append(rules, r)
		}
	}
	return rules
}

func sarifProperty(p *scenarios.Property) sarifRule {
	means := sarifText{Text: p.Meaning}
	return sarifRule{p.ID, camel(p.ID), means, means, means}
}

// sarifRuleOf is the kind of the cause of a program that is broken, and else the property.
func sarifRuleOf(r *checker.Result) sarifRule {
	if r.Counterexample != nil && r.Scenario.OfCommands() {
		if k, ok := trace.KindOf(r.Counterexample.Code); ok {
			name := camel(strings.NewReplacer(",", "", " ", "-").Replace(k.Name))
			help := sarifText{k.Says + " " + k.Fix, docs.Cause(k.ID)}
			return sarifRule{k.ID, name, sarifText{Text: sentence(k.Name)}, sarifText{Text: k.Says}, help}
		}
	}
	return sarifProperty(r.Property)
}

func sarifResultOf(r *checker.Result, rules []sarifRule, o Options) sarifResult {
	out := sarifResult{
		RuleID: sarifRuleOf(r).ID, Kind: "fail", Level: "error",
		Message:      sarifText{Text: headline(r) + ".\n" + detail(r, o)},
		Locations:    []sarifLocation{sarifPlace(r, o)},
		Fingerprints: map[string]string{"lockpick/v1": r.Scenario.ID + " " + r.Property.ID},
	}
	for i := range rules {
		if rules[i].ID == out.RuleID {
			out.RuleIndex = i
		}
	}
	if outcomeOf(r) == undecided {
		out.Level = "warning"
	}
	if c := r.Counterexample; c != nil {
		out.CodeFlows = []sarifCodeFlow{sarifFlow(r, o)}
		out.Properties = &sarifProperties{c.Schedule.String(), ReplayCommand(r, o)}
	}
	return out
}

// sarifPlace is where a result is shown: at the call that went wrong, or else, in place of
// a file, at the scenario's id.
func sarifPlace(r *checker.Result, o Options) sarifLocation {
	sc := r.Scenario
	out := sarifLocation{
		Physical: &sarifPhysical{sarifArtifact{(&url.URL{Path: sc.ID}).EscapedPath()}, &sarifRegion{1}},
		Logical:  []sarifLogical{{sc.SettingName(), sc.ID, "module"}},
	}
	if r.Counterexample != nil {
		if at := sarifSource(o.whereWrong(r.Counterexample), o); at != nil {
			out.Physical = at
		}
	}
	return out
}

// sarifSource is a place in the source; nil when it is not known. GitHub shows nothing without a line.
func sarifSource(s scenarios.Source, o Options) *sarifPhysical {
	if s.File == "" {
		return nil
	}
	return &sarifPhysical{sarifArtifact{o.uri(s.File)}, &sarifRegion{max(s.Line, 1)}}
}

// sarifFlow is a counterexample as a thread flow for each task; the steps of all are
// numbered in the order of the schedule.
func sarifFlow(r *checker.Result, o Options) sarifCodeFlow {
	c := NewChart(r.Scenario, r.Counterexample)
	flows := make([]sarifThreadFlow, len(c.Lanes))
	for i := range c.Lanes {
		flows[i].ID = laneTitle(&c.Lanes[i])
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		step := sarifThreadStep{
			Location: sarifLocation{
				Physical: sarifSource(sourceOf(&r.Counterexample.Trace[i]), o), Message: &sarifText{Text: row.text()},
			},
			Order: row.N, Importance: "important",
		}
		if row.Wrong || row.Preempts || row.Fault {
			step.Importance = "essential"
		}
		for k := range flows {
			if k == row.Lane || row.Lane < 0 { // a stall happens to everybody
				flows[k].Locations = append(flows[k].Locations, step)
			}
		}
	}
	used := flows[:0]
	for _, f := range flows {
		if len(f.Locations) > 0 {
			used = append(used, f)
		}
	}
	return sarifCodeFlow{sarifText{Text: fmt.Sprintf("%s: %s", r.Scenario.ID, c.Wrong)}, used}
}

// text is the calls of a row with their answers.
func (r *Row) text() string {
	var parts []string
	for _, c := range r.Calls {
		switch {
		case c.Operation:
			parts = append(parts, c.Call+" → "+c.Answer)
		case c.Answer == "":
			parts = append(parts, c.Call)
		default:
			parts = append(parts, c.Call+" "+c.Answer)
		}
	}
	return strings.Join(parts, "; ")
}

// camel is "LostUpdate" for "lost-update", and empty for one word.
func camel(id string) string {
	if !strings.Contains(id, "-") {
		return "" // the name of a rule must say more than its id
	}
	var b strings.Builder
	for _, word := range strings.Split(id, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}
