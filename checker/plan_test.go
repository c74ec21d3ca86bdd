package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// The attempts at a verdict, for each kind of question and options. A new attempt changes a row here.
func TestPlan(t *testing.T) {
	t.Parallel()
	histories, graph := traits{judged: true}, traits{}
	for name, c := range map[string]struct {
		of     traits
		o      Options
		states int
		want   string
	}{
		"histories": {of: histories, want: `
			up to 50000 states, with histories
			to the end, with monitors`},
		"a small budget": {of: histories, states: 50_000, want: `
			to the end, with histories`},
		"cycles": {of: traits{cycles: true}, want: `
			to the end, with histories`},
		"no histories": {of: graph, want: `
			to the end, with histories`},
		"interchangeable": {of: traits{judged: true, interchangeable: true}, want: `
			up to 50000 states, with histories
			up to symmetry unless broken
			to the end, with monitors`},
		"interchangeable, known to be large": {of: traits{interchangeable: true}, o: Options{large: true}, states: 1e6, want: `
			up to symmetry
			to the end, with histories`},
		"symmetry asked for": {of: histories, o: Options{Symmetry: true, Memory: RememberMonitors}, want: `
			to the end, with monitors`},
		"real programs": {of: traits{judged: true, external: true}, want: `
			up to 50000 states, with histories, 300 executions unless paths shown
			to the end, with monitors, 300 executions unless paths shown
			up to 50000 states, with histories, rounds of polling joined needs paths open
			to the end, with monitors, rounds of polling joined needs paths open
			up to 50000 states, with histories needs paths
			to the end, with monitors needs paths`},
		"real programs, few preemptions": {of: traits{external: true, preempts: true}, states: 50_000, want: `
			up to 8 executions
			few preemptions
			up to 64 executions, for the odds needs shown
			as many executions more unless shown
			few preemptions, looked at again unless shown
			to the end, with histories, 300 executions unless paths shown
			to the end, with histories, rounds of polling joined needs paths open
			to the end, with histories needs paths`},
		"clocks that move": {of: traits{external: true, preempts: true, local: true, invariant: true}, states: 50_000,
			want: `
			up to 8 executions
			few preemptions
			up to 64 executions, for the odds needs shown
			as many executions more unless shown
			few preemptions, looked at again unless shown
			to the end, with histories, 300 executions unless paths shown (local)
			to the end, with histories, rounds of polling joined at first needs paths open owners (local)
			to the end, with histories, rounds of polling joined needs paths open (local)
			to the end, with histories needs paths (local)`},
		"histories only": {of: histories, o: Options{Memory: RememberHistories}, want: "\n\t\t\tto the end, with histories"},
		"monitors only":  {of: histories, o: Options{Memory: RememberMonitors}, want: "\n\t\t\tto the end, with monitors"},
	} {
		t.Run(name, func(t *testing.T) {
			var got strings.Builder
			for _, a := range c.o.plan(c.of, search.Limits{States: c.states}) {
				fmt.Fprintf(&got, "\n\t\t\t%s%s%s", a.name, words(" needs", a.needs), words(" unless", a.unless))
				if a.limits.Local {
					got.WriteString(" (local)")
				}
			}
			require.Equal(t, c.want, got.String())
		})
	}
}

// words are the names of facts in the table of TestPlan.
func words(before string, f facts) string {
	out := ""
	for i, name := range []string{"broken", "paths", "open", "shown", "owners"} {
		if f&(1<<i) != 0 {
			out += " " + name
		}
	}
	if out != "" {
		out = before + out
	}
	return out
}

// A verdict says which attempts were made at it, and why each before the last was not enough.
func TestAttemptsAreTold(t *testing.T) {
	t.Parallel()
	sc := fixtures.New("toy/excl-wait/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 3})
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Workers: 1, changes: changes{monitors: 5}})
	require.NoError(t, err)
	var told []string
	for _, a := range r.Attempts {
		why, _, _ := strings.Cut(a.Why, ":")
		told = append(told, a.Name+": "+why)
	}
	require.Equal(t, []string{
		"up to 5 states, with histories: the budget of 5 states ended first",
		"to the end, with monitors: ",
	}, told)
}
