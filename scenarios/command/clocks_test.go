package command_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A lock that is stale by age does not hold because no clock has moved: two holders at once take as much as that the
// first is slow. A program that only prints the time does.
func TestTimeThatMatters(t *testing.T) {
	for _, c := range []struct {
		line, verdict, why string
	}{
		{"sh stale.sh", "unknown", "When 11s more have passed it makes the call rmdir"},
		{"sh dated.sh", "holds", ""},
		{"sh looks.sh", "unknown", "after 30s it does not"},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && c.line == "sh looks.sh" {
				t.Skip("SKIPPED with -short: it takes some seconds; go test ./scenarios/command runs it")
			}
			sc := scenario(t, "sh", twice(c.line), map[string]string{"n": "0\n"}, "")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, r.Why, c.why)
		})
	}
}
