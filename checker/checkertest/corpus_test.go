package checkertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// Every row of the corpus gets its verdict over all interleavings, its counterexample
// replays, and the smallest schedules stay the ones on record.
func TestCorpus(t *testing.T) {
	list := all.Corpus()
	lines := make([]string, len(list))
	t.Run("rows", func(t *testing.T) {
		for i := range list {
			t.Run(strings.ReplaceAll(list[i].ID, "/", " "), func(t *testing.T) {
				t.Parallel()
				lines[i] = decideRow(t, &list[i])
			})
		}
	})
	if !testing.Short() && !t.Failed() {
		golden.Check(t, "corpus.txt", strings.Join(lines, ""))
	}
}

// decideRow puts the claims of a row to the test, and returns a line for each: id,
// contenders, property, verdict, and the smallest schedule that breaks it.
func decideRow(t *testing.T, sc *scenarios.Scenario) string {
	var o checker.Options
	o.SkipOdds = true
	if testing.Short() {
		o.States = 20_000
	}
	var b strings.Builder
	for _, c := range sc.Claims {
		r, err := checker.Check(t.Context(), sc, c.Property, o)
		require.NoError(t, err)
		if testing.Short() && r.Verdict == scenarios.Unknown {
			t.Logf("%s: too large for -short", r.Property)
			continue
		}
		require.Equal(t, c.Verdict.String(), r.Verdict.String(), "%s: %s", r.Property, r.Why)
		require.True(t, r.AsClaimed(), "%s: %s", r.Property, r.Conditions())
		fmt.Fprintf(&b, "%s %d %s %s", sc.ID, sc.Setting.Contenders(), r.Property, r.Verdict)
		if cx := r.Counterexample; cx != nil {
			ran, err := checker.Replay(r.Scenario, c.Property, cx.Schedule)
			require.NoError(t, err)
			require.True(t, ran.Broken, cx.Schedule.String())
			fmt.Fprintf(&b, " %s", cx.Schedule)
		}
		for _, text := range r.Conditions() {
			fmt.Fprintf(&b, "; %s", text)
		}
		b.WriteString("\n")
		t.Logf("%s %s: %d states", r.Property, r.Verdict, r.Stats.States)
	}
	return b.String()
}
