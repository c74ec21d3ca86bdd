package checker

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// Any number of workers gives the same verdict, the same counts and the same smallest
// counterexample.
func TestWorkersAgree(t *testing.T) {
	t.Parallel()
	for i, sc := range fixtures.Rows() {
		if race.Detector && i%4 != 0 { // which workers do the same in every row
			continue
		}
		if largeRows[sc.ID] && (!testmain.Long() || sc.ID != "agentwire/blind-unlink/crash") {
			continue
		}
		for _, c := range sc.Claims {
			one := decided(t, &sc, c.Property)
			for workers := testmain.Many(3, 3, 2); workers <= 3; workers++ {
				many, err := Check(context.Background(), &sc, c.Property, Options{Workers: workers})
				require.NoError(t, err)
				require.Equal(t, one.Verdict, many.Verdict, "%s %s", sc.ID, c.Property)
				require.InDelta(t, one.Odds, many.Odds, 1e-12, "%s %s", sc.ID, c.Property)
				a, b := one.Stats, many.Stats
				a.Bytes, b.Bytes = 0, 0 // buffers have grown differently
				if a.Symmetry {         // which machine of an orbit stands for it depends on who came first
					a.Machines, b.Machines = 0, 0
				}
				require.Equal(t, a, b, "%s %s with %d workers", sc.ID, c.Property, workers)
				require.Equal(t, one.Counterexample, many.Counterexample, "%s %s", sc.ID, c.Property)
			}
		}
	}
}

// Each kind of fault, and each way in which tasks come and go, has workers side by side: whatever they share, the race
// detector sees here, too.
func TestWorkersAgreeOnFaults(t *testing.T) {
	if !race.Detector {
		testmain.Slow(t, "it covers each space twice", "./checker")
	}
	kinds := map[string][]*scenarios.Scenario{
		"losses of power": lossToys(), "failing calls": failingToys(), "signals": signalToys(),
		"started tasks": startedToys(), "for ever": foreverToys(),
		"sleeps that last": {fischer(time.Second), claiming(waitsAndLooks)},
	}
	for _, sc := range toys.Locks() {
		kinds["several locks"] = append(kinds["several locks"], &sc)
	}
	alike := scenarios.Setting{Processes: 3, Interchangeable: true}
	claim := scenarios.Claim{Property: scenarios.MutualExclusion}
	kinds["symmetry"] = []*scenarios.Scenario{fixtures.New("toy/look/alike", fixtures.StatThenWrite(), alike, claim),
		fixtures.New("toy/excl/alike", fixtures.Excl(), alike, claim)}
	for kind, list := range kinds {
		for _, sc := range list[:min(testmain.Many(1, 2, 2), len(list))] {
			c, o := sc.Claims[0], Options{SkipOdds: true, Symmetry: kind == "symmetry", Workers: 1}
			one, err := Check(t.Context(), sc, c.Property, o)
			require.NoError(t, err, kind)
			o.Workers = 3
			many, err := Check(t.Context(), sc, c.Property, o)
			require.NoError(t, err, kind)
			require.Equal(t, one.Verdict, many.Verdict, "%s: %s %s", kind, sc.ID, c.Property)
			require.Equal(t, one.Stats.States, many.Stats.States, "%s: %s %s", kind, sc.ID, c.Property)
			require.Equal(t, one.Counterexample, many.Counterexample, "%s: %s %s", kind, sc.ID, c.Property)
		}
	}
}
