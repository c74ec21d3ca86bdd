// Package claims has what the tests of the packages of scenarios have in common beside
// [lockpick/checker/checkertest.Run]: races replayed step by step, drawn runs, and
// verdicts of scenarios that a test has changed.
//
// It knows the checker, which the scenarios must not, and no one scenario. It is for
// tests only.
package claims

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/checkertest"
	"lockpick/internal/race"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Find returns the scenario of a list with an id.
func Find(t testing.TB, list []scenarios.Scenario, id string) *scenarios.Scenario {
	t.Helper()
	for _, sc := range list {
		if sc.ID == id {
			return &sc
		}
	}
	require.FailNow(t, "no such scenario", id)
	return nil
}

// Drawn finds a run that breaks the property, among those that PCT draws for bugs of a
// depth, and replays it.
func Drawn(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, depth int) {
	t.Helper()
	s, err := checker.Sample(t.Context(), sc, p, checker.SampleOptions{Strategy: "pct", Depth: depth, Runs: 20_000, Seed: 1})
	require.NoError(t, err)
	require.Equal(t, scenarios.Broken, s.Verdict, "%s %s", sc.ID, p)
	require.LessOrEqual(t, s.Counterexample.Cost.Preemptions, 6)
	replays(t, sc, p, s.Counterexample.Schedule)
}

func replays(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule) {
	t.Helper()
	r, err := checker.Replay(sc, p, s)
	require.NoError(t, err)
	require.True(t, r.Broken, "%s %s %s", sc.ID, p, s)
}

// Run puts the claims of a scenario to the test as its users do, with checkertest.Run. Under
// the race detector only its first states are explored, by several workers.
func Run(t *testing.T, sc scenarios.Scenario) {
	t.Helper()
	if !race.Detector {
		checkertest.Run(t, sc)
		return
	}
	for _, c := range sc.Claims {
		r, err := checker.Check(t.Context(), &sc, c.Property, checker.Options{States: race.States, SkipOdds: true})
		require.NoError(t, err)
		require.Contains(t, []scenarios.Verdict{scenarios.Unknown, c.Verdict}, r.Verdict)
		t.Logf("%s: SKIPPED under the race detector: what lies beyond %d states; go test of this package without -race runs it", c.Property, race.States)
	}
}

// Verdict checks a property that the scenario need not claim anything of: "broken",
// "holds" or "unknown". Under the race detector it skips the test.
func Verdict(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) string {
	t.Helper()
	if race.Detector {
		t.Skip("SKIPPED under the race detector: a verdict over a whole space; go test of this package without -race runs it")
	}
	r, err := checker.Check(t.Context(), sc, p, checker.Options{})
	require.NoError(t, err, sc.ID)
	return r.Verdict.String()
}

// A Race is a way to break a scenario as its report tells it.
type Race struct {
	ID       string
	Property *scenarios.Property
	Schedule string
}

// Races replays races step by step: each breaks its property with its last step.
func Races(t *testing.T, list []scenarios.Scenario, races []Race) {
	t.Helper()
	for _, c := range races {
		s, err := sched.ParseSchedule(c.Schedule)
		require.NoError(t, err, c.ID)
		r, err := checker.Replay(Find(t, list, c.ID), c.Property, s)
		require.NoError(t, err, c.ID)
		require.True(t, r.Broken, c.ID)
		require.Equal(t, c.Schedule, r.Counterexample.Schedule.String(), "%s: no step too many", c.ID)
	}
}
