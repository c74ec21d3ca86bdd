package checker

import (
	"context"
	"testing"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/race"

	"github.com/stretchr/testify/require"
)

// Any number of workers gives the same verdict, the same counts and the same smallest
// counterexample.
func TestWorkersAgree(t *testing.T) {
	t.Parallel()
	for _, sc := range fixtures.Rows() {
		if fixtures.Large[sc.ID] && (testing.Short() || sc.ID != "agentwire/blind-unlink/crash") {
			continue
		}
		for _, c := range sc.Claims {
			one := decided(t, &sc, c.Property)
			for workers := 2; workers <= 3; workers++ {
				if race.Detector && workers == 2 {
					t.Log("SKIPPED under the race detector: two workers, since three do no less side by side; go test ./checker compares both")
					continue
				}
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
