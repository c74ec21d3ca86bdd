package report

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/scenarios"
)

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("../../docs/schema/check-v1.json")
	require.NoError(t, err)
	return s
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	require.NoError(t, err)
	return v
}

func TestJSONConforms(t *testing.T) {
	s := schema(t)
	rs := results(t)
	rs = append(rs, checker.Result{Scenario: rs[0].Scenario, Property: scenarios.Wedge, Judgement: "graph", Why: "stopped", Odds: -1})
	for _, o := range []Options{{}, {Timings: true}} {
		got := text(t, func(b *bytes.Buffer) error { return JSON(b, rs, o) })
		require.NoError(t, s.Validate(decoded(t, got)))
		if !o.Timings {
			golden.Check(t, "check.json", got)
		}
	}
	require.NoError(t, s.Validate(decoded(t, text(t, func(b *bytes.Buffer) error { return JSON(b, nil, Options{}) }))))
}

// Which stall is survived stands in the document where that was tried, as the schema describes it.
func TestJSONTellsWhatIsSurvived(t *testing.T) {
	r := results(t)[0]
	r.Survives = "survives a stall of 3s, and is broken by one of 4s"
	got := text(t, func(b *bytes.Buffer) error { return JSON(b, []checker.Result{r}, Options{}) })
	require.Contains(t, got, `"survives": "survives a stall of 3s, and is broken by one of 4s"`)
	require.NoError(t, schema(t).Validate(decoded(t, got)))
}

// The schema describes every field of a setting that goes into the document.
func TestSchemaKnowsTheSetting(t *testing.T) {
	text, err := os.ReadFile("../../docs/schema/check-v1.json")
	require.NoError(t, err)
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &doc))
	for _, f := range scenarios.Fields() {
		if f.JSON != "" {
			require.Contains(t, doc.Defs["result"].Properties, f.JSON,
				"docs/schema/check-v1.json does not describe the field %q of a setting", f.Name)
		}
	}
}

// The schema has teeth.
func TestSchemaRejects(t *testing.T) {
	s := schema(t)
	for name, spoil := range map[string]func(doc, result map[string]any){
		"another version":           func(doc, _ map[string]any) { doc["version"] = 2 },
		"an unknown verdict":        func(_, r map[string]any) { r["verdict"] = "fine" },
		"no id of a property":       func(_, r map[string]any) { r["property"] = "Fairness" },
		"no scenario":               func(_, r map[string]any) { delete(r, "scenario") },
		"broken without evidence":   func(_, r map[string]any) { delete(r, "counterexample") },
		"holds with counterexample": func(_, r map[string]any) { r["verdict"] = "holds" },
		"negative odds":             func(_, r map[string]any) { r["odds"] = -1 },
		"no cause": func(_, r map[string]any) {
			r["counterexample"].(map[string]any)["cause"] = ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			var doc map[string]any
			got := text(t, func(b *bytes.Buffer) error { return JSON(b, results(t)[:1], Options{}) })
			require.NoError(t, json.Unmarshal([]byte(got), &doc))
			spoil(doc, doc["results"].([]any)[0].(map[string]any))
			again, err := json.Marshal(doc)
			require.NoError(t, err)
			require.Error(t, s.Validate(decoded(t, string(again))))
		})
	}
}

// Timings are the only difference between two runs, and are left out unasked.
func TestJSONIsDeterministic(t *testing.T) {
	first := text(t, func(b *bytes.Buffer) error { return JSON(b, results(t), Options{}) })
	fresh, err := decideToys()
	require.NoError(t, err)
	again := text(t, func(b *bytes.Buffer) error { return JSON(b, fresh, Options{}) })
	require.Equal(t, first, again)
	require.NotContains(t, first, "elapsed_ms")
}
