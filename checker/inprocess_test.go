package checker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// What tasks of one process share, they share in cells. Between threads a look and a store are two
// steps, and a compare-and-swap is one; under an event loop both are part of a turn.

var taken = fsfake.Cell[bool]{Name: "taken"}

// among is one process with so many tasks, which do this once each.
func among(n int, how scenarios.Concurrency, p *scenarios.Property, acquire func(t *scenarios.Task) (scenarios.Hold, error)) *scenarios.Scenario {
	sc := plain(p, acquire)
	sc.Setting.Processes, sc.Setting.Tasks, sc.Setting.Concurrency = 1, []int{n}, how
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			if _, err := t.Acquire("/lock", func() (scenarios.Hold, error) { return acquire(t) }); err == nil {
				_ = t.Release(func() error { taken.Store(t.Proc, false); return nil })
			}
		}
	}
	return sc
}

func TestCompareAndSwapIsOneStep(t *testing.T) {
	fixtures.OnlyAnswers(t)
	t.Parallel()
	locked := func(got bool) (scenarios.Hold, error) {
		if !got {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		return scenarios.Hold{}, nil
	}
	look := func(t *scenarios.Task) (scenarios.Hold, error) {
		if taken.Load(t.Proc) {
			return locked(false)
		}
		taken.Store(t.Proc, true)
		t.Work()
		return locked(true)
	}
	swap := func(t *scenarios.Task) (scenarios.Hold, error) {
		got := taken.CompareAndSwap(t.Proc, false, true)
		t.Work()
		return locked(got)
	}
	spin := func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next() && !taken.CompareAndSwap(t.Proc, false, true); {
		}
		t.Work()
		return locked(true)
	}
	mutex := func(t *scenarios.Task) (scenarios.Hold, error) {
		kit.Mutex{Name: taken.Name}.Lock(t)
		t.Work()
		return locked(true)
	}
	me, stuck, spurious := scenarios.MutualExclusion, scenarios.Deadlock, scenarios.SpuriousFailure
	for _, c := range []struct {
		name    string
		acquire func(t *scenarios.Task) (scenarios.Hold, error)
		how     scenarios.Concurrency
		p       *scenarios.Property
		want    Verdict
		smaller string
	}{
		{"look", look, scenarios.Threads, me, Broken, "A1 A.2x3 A2"},
		{"look", look, scenarios.EventLoop, me, Holds, ""},
		{"swap", swap, scenarios.Threads, me, Holds, ""},
		{"swap", swap, scenarios.Threads, spurious, Holds, ""},
		{"swap", swap, scenarios.EventLoop, me, Holds, ""},
		{"spin", spin, scenarios.Threads, me, Holds, ""},
		{"spin", spin, scenarios.Threads, stuck, Holds, ""},
		{"spin", spin, scenarios.EventLoop, stuck, Broken, "A1 A.2x1"},
		{"mutex", mutex, scenarios.Threads, me, Holds, ""},
		{"mutex", mutex, scenarios.Threads, stuck, Holds, ""},
		{"mutex", mutex, scenarios.EventLoop, me, Holds, ""},
		{"mutex", mutex, scenarios.EventLoop, stuck, Holds, ""},
	} {
		for _, engine := range engines(t) {
			r, err := Check(t.Context(), among(2, c.how, c.p, c.acquire), c.p, Options{oracle: engine})
			require.NoError(t, err, c.name)
			require.Equal(t, c.want, r.Verdict, "%s, %v, %s", c.name, c.how, c.p)
			if c.want == Broken && engine == nil {
				require.Equal(t, c.smaller, r.Counterexample.Schedule.String(), c.name)
			}
			if c.name == "spin" && c.want == Broken {
				require.Equal(t, trace.Spins, r.Counterexample.Waits[0].How)
				require.Contains(t, r.Counterexample.Cause, "A.2 goes round over the cell taken without an await")
			}
		}
	}
	_, err := Check(t.Context(), among(2, scenarios.EventLoop, me, spin), me, Options{})
	require.ErrorContains(t, err, "goes round over the cell taken without an await")

	never := func(t *scenarios.Task) (scenarios.Hold, error) { // nobody gives back what it has
		kit.Mutex{Name: "other"}.Lock(t)
		return scenarios.Hold{}, nil
	}
	r, err := Check(t.Context(), among(2, scenarios.Threads, stuck, never), stuck, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
}
