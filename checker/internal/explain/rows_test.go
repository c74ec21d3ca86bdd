package explain_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/explain"
	"lockpick/checker/trace"
	"lockpick/internal/decided"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// The cause of every counterexample of the list. The schedules are those on record, which
// internal/reference finds anew, with their causes, and compares; here they are replayed.
func TestCausesOfAllRows(t *testing.T) {
	var c causes
	for _, sc := range all.All() {
		for _, claim := range sc.Claims {
			if claim.Verdict != scenarios.Broken {
				continue
			}
			row, ok := decided.Of(sc.ID, claim.Property.ID)
			require.True(t, ok, "%s %s is not on record", sc.ID, claim.Property)
			s, err := sched.ParseSchedule(row.Schedule)
			require.NoError(t, err)
			ran, err := checker.Replay(&sc, claim.Property, s)
			require.NoError(t, err)
			require.True(t, ran.Broken, "%s %s %s", sc.ID, claim.Property, s)
			c.note(t, &sc, claim.Property, ran.Counterexample)
			assert.Equal(t, row.Mistake+": "+row.Cause, ran.Counterexample.Mistake+": "+ran.Counterexample.Cause,
				"%s %s; if this is what you want, run go test ./internal/reference -update", sc.ID, claim.Property)
		}
	}
}

// causes are causes in lines.
type causes struct {
	text strings.Builder
	seen map[string]string // who has a cause already
}

// add checks a property that is broken, and notes its cause.
func (c *causes) add(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) {
	t.Helper()
	r, err := checker.Check(context.Background(), sc, p, checker.Options{})
	require.NoError(t, err, "%s %s", sc.ID, p)
	require.Equal(t, checker.Broken, r.Verdict, "%s %s: %s", sc.ID, p, r.Why)
	c.note(t, sc, p, r.Counterexample)
}

// note adds a cause. Two systems must not share one: it would say nothing of either.
func (c *causes) note(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, cx *trace.Counterexample) {
	t.Helper()
	assert.NotEqual(t, explain.Unexplained, cx.Mistake, "%s %s: %s", sc.ID, p, cx.Cause)
	assert.Positive(t, cx.Act, "%s %s: no call is accused of what went wrong", sc.ID, p)
	for _, n := range append(cx.Named, cx.Blamed, cx.Act) {
		assert.LessOrEqual(t, n, len(cx.Trace), "%s %s names a step that there is not", sc.ID, p)
	}
	if c.seen == nil {
		c.seen = map[string]string{}
	}
	owner := sc.System()
	if owner == "shape" {
		owner = sc.ID
	}
	if first, ok := c.seen[cx.Cause]; ok && !(first == "git-lockfile" && owner == "kubeconfig") {
		// These two make one mistake, on files of one name: each creates config.lock, and dies.
		assert.Equal(t, first, owner, "one cause for two mistakes: %s", cx.Cause)
	}
	c.seen[cx.Cause] = owner
	fmt.Fprintf(&c.text, "%s %s, %s, by step %d: %s\n", sc.ID, p, cx.Mistake, cx.Act, cx.Cause)
}
