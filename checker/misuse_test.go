package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/model"
	"lockpick/scenarios"
)

// What a program records and no history can hold is an error that says so, and no panic. Neither is what the
// result beside an error depends on.
func TestMisrecordedOperations(t *testing.T) {
	add, added := model.Add{Key: "a"}, model.Added{}
	for name, c := range map[string]struct {
		property      *scenarios.Property
		input, output any
		want          string
	}{
		"an entry too many":     {scenarios.Duplicate, model.Append{Entry: 64}, model.Appended{}, "0 to 63, not 64"},
		"a cursor too far":      {scenarios.CursorConsistency, model.Advance{To: 64}, nil, "entries 0 to 63"},
		"a byte that ends keys": {scenarios.LostUpdate, model.Add{Key: "a\x1fb"}, added, "the byte 0x1f"},
		"an input of a slice":   {scenarios.LostUpdate, []string{"a"}, added, "cannot hold a []string"},
		"an input of a pointer": {scenarios.LostUpdate, &add, added, "cannot hold a *model.Add"},
		"an output of a slice":  {scenarios.LostUpdate, add, []string{"a"}, "cannot be compared"},
		"no input":              {scenarios.LostUpdate, nil, added, "never invoked"},
	} {
		t.Run(name, func(t *testing.T) {
			sc := &scenarios.Scenario{ID: "toy/misuse/contend", Setting: scenarios.Setting{Processes: 2},
				Program: func(int, int) scenarios.Program {
					return func(t *scenarios.Task) {
						t.Note(scenarios.Invoked{Input: c.input})
						_, _ = t.Stat("/x")
						t.Note(scenarios.Returned{Output: c.output})
					}
				},
				Claims: []scenarios.Claim{{Property: c.property, Verdict: scenarios.Holds}}}
			r, err := Check(t.Context(), sc, c.property, Options{})
			require.ErrorContains(t, err, c.want)
			require.Empty(t, r.Conditions())
			require.Empty(t, r.Conditioned())
			_, err = Sample(t.Context(), sc, c.property, SampleOptions{Runs: 2})
			require.ErrorContains(t, err, c.want)
		})
	}
}
