package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
	"lockpick/sched"
)

// What mends a lock runs in the order of the counterexample: A looks, B gets the lock, and then A is refused. What is
// broken in that order, too, is not shown as if it were mended.
func TestBesideKeepsTheOrder(t *testing.T) {
	find := func(id string) *scenarios.Scenario {
		for _, sc := range toys.All() {
			if sc.ID == id {
				return &sc
			}
		}
		require.Fail(t, id)
		return nil
	}
	look := find("toy/look/contend")
	p, err := look.Property("mutual-exclusion")
	require.NoError(t, err)
	r, err := checker.Check(t.Context(), look, p, checker.Options{})
	require.NoError(t, err)
	b, err := checker.Beside(find("toy/excl/contend"), r.Counterexample, "O_EXCL")
	require.NoError(t, err)
	require.False(t, b.Run.Kind > 0 || b.Run.Cause != "")
	var first []sched.Task
	for _, st := range b.Run.Trace {
		if len(first) == 0 || first[len(first)-1] != st.Choice.Task {
			first = append(first, st.Choice.Task)
		}
	}
	require.Equal(t, r.Counterexample.Trace[len(r.Counterexample.Trace)-1].Choice.Task, first[1])
	_, err = checker.Beside(look, r.Counterexample, "nothing")
	require.ErrorContains(t, err, "broken in this order")
}
