package checker

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// endsAfter is a context that ends when it has been asked so many times.
type endsAfter struct {
	context.Context
	left atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Whenever a check is stopped, it says so: the verdict is unknown with a reason, or the
// right one, and never an error.
func TestStoppedAtAnyMoment(t *testing.T) {
	testmain.Slow(t, "it stops searches at many moments", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	few, step := 2, int64(testmain.Many(2, 3, 8))
	for _, sc := range toys.All() {
		for _, c := range sc.Claims {
			if sc.Variant() == "wrong" {
				continue
			}
			for name, o := range map[string]Options{
				"histories": {Memory: RememberHistories}, "monitors": {Memory: RememberMonitors},
				"bounded": {Preemptions: &few}, "reference": {oracle: referenceOf(50)},
			} {
				decided := false
				for n := int64(0); n < 3000 && !decided; n += 1 + n/step {
					ctx := &endsAfter{Context: t.Context()}
					ctx.left.Store(n)
					o.Workers = 1
					r, err := Check(ctx, &sc, c.Property, o)
					require.NoError(t, err, "%s %s %s, stopped after %d", sc.ID, c.Property, name, n)
					if r.Verdict == Unknown {
						require.NotEmpty(t, r.Why)
						require.Nil(t, r.Counterexample)
						continue
					}
					require.Equal(t, c.Verdict, r.Verdict, "%s %s %s, stopped after %d", sc.ID, c.Property, name, n)
					decided = ctx.left.Load() > 0
				}
			}
		}
	}
}

// A check ends soon after its time is up, wherever it is then.
func TestTimeIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED with -short: it waits for time limits to pass; go test ./checker runs it")
	}
	sc, err := toys.All()[0].WithProcesses(6)
	require.NoError(t, err)
	for _, limit := range []time.Duration{10 * time.Millisecond, 300 * time.Millisecond, time.Second} {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		start := time.Now()
		r, err := Check(ctx, &sc, scenarios.MutualExclusion, Options{Full: true})
		took := time.Since(start)
		cancel()
		require.NoError(t, err)
		require.False(t, r.Complete)
		require.NotEmpty(t, r.Why)
		require.NotEqual(t, Holds, r.Verdict)       // what was seen until then is no secret
		require.Less(t, took, limit+20*time.Second) // the machine may be busy; the whole space takes minutes
	}
}
