package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// A property that nothing in a scenario could violate gets no verdict, from no engine:
// "holds" would say nothing.
func TestNothingToJudge(t *testing.T) {
	ctx := context.Background()
	lock := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	lock.Probe = nil
	silent := fixtures.New("toy/silent/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	silent.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) { _, _ = t.Stat("/lock") }
	}
	for _, c := range []struct {
		sc   *scenarios.Scenario
		want map[*scenarios.Property]string
	}{
		{lock, map[*scenarios.Property]string{
			scenarios.LostUpdate: "no operation whose answer could violate it", scenarios.Duplicate: "no operation",
			scenarios.TornRead: "no operation", scenarios.OwnerInfo: "no operation", scenarios.Wedge: "no Probe",
		}},
		{silent, map[*scenarios.Property]string{
			scenarios.MutualExclusion: "no operation", scenarios.SpuriousFailure: "no operation",
			scenarios.ForeignRelease: "no task notes that it holds a lock", scenarios.Starvation: "no operation that could starve",
		}},
	} {
		for _, p := range scenarios.Properties() {
			want, vacuous := c.want[p]
			if !vacuous {
				continue
			}
			_, err := Check(ctx, c.sc, p, Options{})
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			require.ErrorContains(t, err, want)
			if p == scenarios.Starvation {
				continue
			}
			_, err = Check(ctx, c.sc, p, Options{Engine: Reference})
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			all := 100
			_, err = Check(ctx, c.sc, p, Options{Preemptions: &all})
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			part, err := CheckShard(ctx, c.sc, p, Options{}, Shard{0, 1})
			if err == nil {
				_, err = Merge(c.sc, p, []ShardResult{part})
			}
			require.ErrorIs(t, err, ErrNothingToJudge, p)
			s, err := Sample(ctx, c.sc, p, SampleOptions{Runs: 5})
			if p != scenarios.Wedge {
				require.NoError(t, err)
				require.Contains(t, s.Why, want)
			}
		}
	}
}

// A lock whose name nobody knows is nobody's to remove.
func TestHoldsWithoutAName(t *testing.T) {
	sc := fixtures.New("toy/nameless/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Acquire("", func() (scenarios.Hold, error) { _, err := t.Stat("/"); return scenarios.Hold{}, err })
			_ = t.Release(func() error { _, err := t.Stat("/"); return err })
		}
	}
	_, err := Check(context.Background(), sc, scenarios.ForeignRelease, Options{})
	require.ErrorIs(t, err, ErrNothingToJudge)
}

// Only the graph shows whether somebody starves: other engines must not call it a day.
func TestOnlyTheGraphDecidesStarvation(t *testing.T) {
	poll := fixtures.New("toy/poll/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 2, Crashes: 1})
	r, err := Check(context.Background(), poll, scenarios.Starvation, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	_, err = Check(context.Background(), poll, scenarios.Starvation, Options{Engine: Reference})
	require.ErrorContains(t, err, "choose the graph engine")
	_, err = Sample(context.Background(), poll, scenarios.Starvation, SampleOptions{})
	require.ErrorContains(t, err, "check it instead")
}
