package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

func TestReferenceOnToys(t *testing.T) {
	fixtures.OneWorker(t)
	two := scenarios.Setting{Processes: 2}
	crash := scenarios.Setting{Processes: 2, Crashes: 1}
	for _, c := range []struct {
		id       string
		lock     scenarios.Protocol
		setting  scenarios.Setting
		property *scenarios.Property
		want     Verdict
		schedule string
	}{
		{"toy/stat/contend", fixtures.StatThenWrite(), two, scenarios.MutualExclusion, Broken, "A1 B4 A3"},
		{"toy/excl/contend", fixtures.Excl(), two, scenarios.MutualExclusion, Holds, ""},
		{"toy/excl/crash", fixtures.Excl(), crash, scenarios.Wedge, Broken, ""},
		{"toy/excl-wait/contend", fixtures.ExclWait(), two, scenarios.MutualExclusion, Holds, ""},
		{"toy/excl-wait/crash", fixtures.ExclWait(), crash, scenarios.Wedge, Broken, ""},
		{"toy/flock/contend", fixtures.Flock(), two, scenarios.MutualExclusion, Holds, ""},
		{"toy/flock/crash", fixtures.Flock(), crash, scenarios.Wedge, Holds, ""},
		{"toy/excl/contend", fixtures.Excl(), two, scenarios.ForeignRelease, Holds, ""},
	} {
		sc := fixtures.New(c.id, c.lock, c.setting, scenarios.Claim{Property: c.property, Verdict: c.want})
		r, err := Check(context.Background(), sc, c.property, Options{oracle: reference})
		require.NoError(t, err, c.id)
		require.Equal(t, c.want.String(), r.Verdict.String(), "%s %s: %s", c.id, c.property, r.Why)
		g, err := Check(context.Background(), sc, c.property, Options{Workers: 1})
		require.NoError(t, err, c.id)
		require.Equal(t, c.want.String(), g.Verdict.String(), "%s %s: graph: %s", c.id, c.property, g.Why)
		t.Logf("graph %+v", g.Stats)
		if g.Counterexample != nil {
			t.Log("graph", g.Counterexample.Schedule, g.Counterexample.Cost)
			require.False(t, r.Counterexample.Cost.Less(g.Counterexample.Cost))
		}
		if r.Counterexample != nil {
			t.Log(c.id, c.property, r.Stats.Schedules, r.Counterexample.Schedule, r.Counterexample.Cost, r.Counterexample.Waits)
		} else {
			t.Log(c.id, c.property, r.Stats.Schedules, r.Stats.Histories)
		}
		if c.schedule != "" {
			require.Len(t, r.Counterexample.Schedule, 8)
		}
	}
}
