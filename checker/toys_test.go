package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// allToys lists every toy that the engines are compared on, with what is true of it.
func allToys() []*scenarios.Scenario {
	return append(append(plainToys(), startedToys()...), signalToys()[:5]...)
}

// requireSmallest decides what scenarios claim, and holds it against the claims and the smallest
// schedules, by scenario and property; what holds has none.
func requireSmallest(t *testing.T, list []*scenarios.Scenario, smallest map[string]string) {
	for _, sc := range list {
		for _, c := range sc.Claims {
			id := sc.ID + " " + c.Property.ID
			t.Run(id, func(t *testing.T) {
				r, err := Check(context.Background(), sc, c.Property, Options{Workers: 1})
				require.NoError(t, err)
				require.Equal(t, c.Verdict, r.Verdict, r.Why)
				if c.Verdict != Broken {
					require.Empty(t, smallest[id])
					return
				}
				require.Equal(t, smallest[id], r.Counterexample.Schedule.String())
				again, err := Replay(sc, c.Property, r.Counterexample.Schedule)
				require.NoError(t, err)
				require.True(t, again.Broken)
			})
		}
	}
}

// enginesAgreeOn compares the engines on everything that scenarios claim.
func enginesAgreeOn(t *testing.T, list []*scenarios.Scenario) {
	fixtures.OneWorker(t)
	budget, runs := testmain.Many(500, 1500, 10_000), testmain.Many(100, 100, 300)
	for _, sc := range list {
		for _, c := range sc.Claims {
			t.Run(sc.ID+"/"+c.Property.ID, func(t *testing.T) {
				if c.Property.Judgement() == scenarios.ByHistory {
					crossCheck(t, sc, c.Property, budget, runs)
				} else {
					crossVerdict(t, sc, c.Property, budget)
				}
			})
		}
	}
}

// largeRows are the rows with more than 100 000 states.
var largeRows = map[string]bool{
	"gateguard/flock-rmw/crash":            true,
	"gateguard/excl-rmw/contend":           true,
	"gateguard/lease-rmw/stall":            true,
	"openclaw-takeover/guarded/dead-owner": true,
	"agentwire/blind-unlink/crash":         true,
	"agentwire/flock-only/crash":           true,
}
