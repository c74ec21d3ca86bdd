package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/scenarios"
)

// everything has a verdict of each kind: as claimed, not as claimed, undecided.
func everything(t *testing.T) []checker.Result {
	t.Helper()
	rs := results(t)
	open := checker.Result{
		Scenario: rs[0].Scenario, Property: scenarios.Wedge, Why: "the budget of 5 states ended first", Odds: -1,
		Claim: checker.Holds, Claimed: true, Elapsed: 1500 * time.Millisecond,
	}
	return slices.Insert(rs, 1, open)
}

func TestOutcomes(t *testing.T) {
	var n [3]int
	for _, r := range everything(t) {
		n[outcomeOf(&r)]++
	}
	for o, n := range n {
		require.NotZero(t, n, outcome(o))
	}
	// Nothing was claimed: no verdict differs.
	require.Equal(t, passed, outcomeOf(&checker.Result{Verdict: checker.Broken, Scenario: &scenarios.Scenario{}}))
	// Real programs claim nothing, and are run to know whether they hold.
	require.Equal(t, failed, outcomeOf(&checker.Result{Verdict: checker.Broken,
		Scenario: &scenarios.Scenario{External: true}}))
}

// Of real programs whose calls are not located the command's own file is shown, at the line of an
// archive, or without a line.
func TestCommandsHaveAPlace(t *testing.T) {
	schema := sarifSchemaOf(t)
	r := exhibit(t, "ctx/stat-then-write/contend", scenarios.MutualExclusion)
	sc := *r.Scenario
	sc.External, r.Scenario, r.Claimed = true, &sc, false
	cx := *r.Counterexample
	cx.Trace, r.Counterexample = slices.Clone(cx.Trace), &cx
	for i := range cx.Trace {
		cx.Trace[i].Calls = slices.Clone(cx.Trace[i].Calls)
		for k := range cx.Trace[i].Calls {
			cx.Trace[i].Calls[k].Source = scenarios.Source{}
		}
	}
	for _, c := range []struct {
		at          scenarios.Source
		sarif, file string
	}{
		{scenarios.Source{File: "/repo/race.txtar", Line: 3}, `"startLine": 3`,
			"::error file=race.txtar,line=3,title="},
		{scenarios.Source{File: "/repo/count.sh"}, `"uri": "count.sh"`, "::error file=count.sh,title="},
	} {
		o := Options{Root: "/repo", Commands: []scenarios.Source{c.at, {}}}
		got := text(t, func(b *bytes.Buffer) error { return SARIF(b, []checker.Result{r}, o) })
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(doc))
		require.Contains(t, got, c.sarif)
		require.Equal(t, strings.Count(got, `"physicalLocation"`), strings.Count(got, `"region"`),
			"GitHub shows no other")
		require.Contains(t, text(t, func(b *bytes.Buffer) error { return GitHub(b, []checker.Result{r}, o) }), c.file)
	}
}

func TestGitHub(t *testing.T) {
	got := text(t, func(b *bytes.Buffer) error { return GitHub(b, everything(t), Options{}) })
	golden.Check(t, "github.txt", got)
	for _, l := range strings.Split(strings.TrimRight(got, "\n"), "\n") {
		require.Regexp(t, `^::(error|warning) title=[^,:\n]+::[^\n]+$`, l)
	}
	require.Equal(t, "100%25%0Ax:y", githubData("100%\nx:y"))
	require.Equal(t, "a%3Ab%2Cc%0D", githubProperty("a:b,c\r"))
}

func TestSARIF(t *testing.T) {
	schema := sarifSchemaOf(t)
	rs := everything(t)
	for i := range rs { // and with a long flow, all claims wrong
		r := &rs[i]
		if r.Verdict != checker.Unknown {
			r.Claim = checker.Unknown
		}
	}
	for _, x := range exhibits() {
		r := exhibit(t, x.id, x.property)
		r.Claim = checker.Holds
		rs = append(rs, r)
	}
	for name, rs := range map[string][]checker.Result{"few": everything(t), "all": rs, "none": nil} {
		got := text(t, func(b *bytes.Buffer) error { return SARIF(b, rs, Options{}) })
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(got))
		require.NoError(t, err)
		require.NoError(t, schema.Validate(doc), name)
		if name == "few" {
			golden.Check(t, "sarif.json", got)
		}
	}
}

// A module that is published under a path with a host has its page there.
func TestHome(t *testing.T) {
	require.Equal(t, "https://github.com/ann/lockpick", home("github.com/ann/lockpick/checker/report"))
	require.Empty(t, home("lockpick/checker/report"))
}

// sarifSchemaOf reads the schema that OASIS publishes with SARIF 2.1.0, Errata 01, which
// is kept here unchanged.
func sarifSchemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open("testdata/sarif-schema-2.1.0.json")
	require.NoError(t, err)
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource(sarifSchema, doc))
	schema, err := c.Compile(sarifSchema)
	require.NoError(t, err)
	return schema
}

// The schema refuses what is wrong, and so the test above says something.
func TestSARIFSchemaHasTeeth(t *testing.T) {
	schema := sarifSchemaOf(t)
	good := text(t, func(b *bytes.Buffer) error { return SARIF(b, everything(t), Options{}) })
	for old, bad := range map[string]string{
		`"level": "error"`: `"level": "fatal"`, `"version": "2.1.0"`: `"version": "2"`, `"ruleIndex"`: `"ruleNumber"`,
		`"startLine": 1`: `"startLine": 0`,
	} {
		require.Contains(t, good, old)
		var doc any
		require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(good, old, bad)), &doc))
		require.Error(t, schema.Validate(doc), bad)
	}
}

func TestJUnit(t *testing.T) {
	for name, o := range map[string]Options{"junit.xml": {}, "junit-timings.xml": {Timings: true}} {
		rs := everything(t)
		for i := range rs {
			rs[i].Elapsed = 1500 * time.Millisecond
		}
		got := text(t, func(b *bytes.Buffer) error { return JUnit(b, rs, o) })
		require.NoError(t, validJUnit(got))
		if !o.Timings {
			golden.Check(t, name, got)
		}
		require.Equal(t, o.Timings, strings.Contains(got, `time="1.500"`))
	}
	for _, x := range exhibits() {
		r := exhibit(t, x.id, x.property)
		got := text(t, func(b *bytes.Buffer) error { return JUnit(b, []checker.Result{r}, Options{}) })
		require.NoError(t, validJUnit(got))
		require.Contains(t, got, "<system-out>")
	}
	require.NoError(t, validJUnit(text(t, func(b *bytes.Buffer) error { return JUnit(b, nil, Options{}) })))
}

func TestJUnitTextIsXML(t *testing.T) {
	require.Equal(t, "a\uFFFDb\tc\uFFFD", xmlText("a\x00b\tc\x1b"))
	r := exhibit(t, "ctx/excl/crash", scenarios.Wedge)
	r.Counterexample.Cause = "]]> & <x> \x1b[31m"
	got := text(t, func(b *bytes.Buffer) error { return JUnit(b, []checker.Result{r}, Options{}) })
	require.NoError(t, validJUnit(got))
}

// junitRules are what the schemas that readers use have in common (that of Jenkins'
// xunit plugin, and Ant's as most others read it): for each element the attributes it
// must have and may have, and the children it may have, in this order.
func junitRules() map[string]struct{ must, may, children string } {
	return map[string]struct{ must, may, children string }{
		"testsuites": {"", "name tests failures errors time disabled", "testsuite"},
		"testsuite": {"name tests failures errors", "skipped time timestamp hostname id package disabled",
			"properties testcase system-out system-err"},
		"testcase":   {"name", "classname time status assertions", "skipped error failure system-out system-err"},
		"failure":    {"", "message type", ""},
		"error":      {"", "message type", ""},
		"skipped":    {"", "message type", ""},
		"system-out": {"", "", ""},
	}
}

// validJUnit reports the first offence against junitRules, or counts that do not add up.
func validJUnit(text string) error {
	d := xml.NewDecoder(strings.NewReader(text))
	rules := junitRules()
	type open struct {
		name string
		at   int // index of the last child among those allowed
	}
	var stack []open
	said, counted := map[string]int{}, map[string]int{}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			rule, known := rules[name]
			if !known {
				return fmt.Errorf("element %s", name)
			}
			if len(stack) == 0 && name != "testsuites" {
				return fmt.Errorf("the root is %s", name)
			}
			if len(stack) > 0 {
				parent := &stack[len(stack)-1]
				at := slices.Index(strings.Fields(rules[parent.name].children), name)
				if at < parent.at {
					return fmt.Errorf("%s in %s, or out of order", name, parent.name)
				}
				parent.at = at
			}
			if err := validAttributes(e, rule.must, rule.may, said); err != nil {
				return err
			}
			counted[name]++
			stack = append(stack, open{name: name})
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if len(bytes.TrimSpace(e)) > 0 && rules[stack[len(stack)-1].name].children != "" {
				return fmt.Errorf("text in %s: %q", stack[len(stack)-1].name, e)
			}
		}
	}
	for attribute, element := range map[string]string{"tests": "testcase", "failures": "failure", "errors": "error"} {
		if 2*counted[element] != said[attribute] { // by the suites, and again by their sum
			return fmt.Errorf("%d %s, and the attributes say %d", counted[element], element, said[attribute])
		}
	}
	return nil
}

func validAttributes(e xml.StartElement, must, may string, said map[string]int) error {
	have := map[string]bool{}
	for _, a := range e.Attr {
		name := a.Name.Local
		if have[name] || !slices.Contains(strings.Fields(must+" "+may), name) {
			return fmt.Errorf("attribute %s of %s", name, e.Name.Local)
		}
		have[name] = true
		switch name {
		case "tests", "failures", "errors":
			n, err := strconv.Atoi(a.Value)
			if err != nil {
				return err
			}
			said[name] += n
		case "time":
			if _, err := strconv.ParseFloat(a.Value, 64); err != nil {
				return err
			}
		}
	}
	for _, name := range strings.Fields(must) {
		if !have[name] {
			return fmt.Errorf("%s has no %s", e.Name.Local, name)
		}
	}
	return nil
}

func TestJUnitRulesHaveTeeth(t *testing.T) {
	good := text(t, func(b *bytes.Buffer) error { return JUnit(b, everything(t), Options{}) })
	for old, bad := range map[string]string{
		"<testsuite ": "<suite ", `tests="`: `tests="1`, " classname=": " class=", "<failure ": "<failed ",
		`name="toy"`: ``,
	} {
		require.Contains(t, good, old)
		require.Error(t, validJUnit(strings.Replace(good, old, bad, 1)), bad)
	}
}
