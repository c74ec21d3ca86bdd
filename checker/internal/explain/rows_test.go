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
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// The cause of every counterexample of the list, one line each.
func TestCausesOfAllRows(t *testing.T) {
	if testing.Short() {
		t.Skip("decides every broken row of the list")
	}
	var c causes
	for _, sc := range all.All() {
		for _, claim := range sc.Claims {
			if claim.Verdict == scenarios.Broken {
				c.add(t, &sc, claim.Property)
			}
		}
	}
	golden.Check(t, "rows.txt", c.text.String())
}

// causes are causes in lines.
type causes struct {
	text strings.Builder
	seen map[string]string // who has a cause already
}

// add checks a property that is broken, and adds its cause. Two systems must not share a
// cause: it would say nothing of either.
func (c *causes) add(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) {
	t.Helper()
	r, err := checker.Check(context.Background(), sc, p, checker.Options{})
	require.NoError(t, err, "%s %s", sc.ID, p)
	require.Equal(t, checker.Broken, r.Verdict, "%s %s: %s", sc.ID, p, r.Why)
	cx := r.Counterexample
	assert.NotEqual(t, explain.Unexplained, cx.Mistake, "%s %s: %s", sc.ID, p, cx.Cause)
	for _, n := range append(cx.Named, cx.Blamed) {
		assert.LessOrEqual(t, n, len(cx.Trace), "%s %s names a step that there is not", sc.ID, p)
	}
	if c.seen == nil {
		c.seen = map[string]string{}
	}
	owner := sc.System()
	if owner == "shape" {
		owner = sc.ID
	}
	if first, ok := c.seen[cx.Cause]; ok {
		assert.Equal(t, first, owner, "one cause for two mistakes: %s", cx.Cause)
	}
	c.seen[cx.Cause] = owner
	fmt.Fprintf(&c.text, "%s %s, %s: %s\n", sc.ID, p, cx.Mistake, cx.Cause)
}
