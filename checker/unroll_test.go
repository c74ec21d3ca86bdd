package checker

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/scenarios"
)

// A program that loses patience after some attempts is not what its first round looks
// like, and must not get a verdict as if it were.
func TestRoundsThatCarrySomethingOver(t *testing.T) {
	fixtures.OnlyAnswers(t)
	impatient := func(limit int) scenarios.Protocol {
		once := fixtures.Excl()
		l := fixtures.Excl()
		l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
			attempts := 0
			for retry := t.Retry(); retry.Next(); {
				if h, err := once.Acquire(t); err == nil {
					return h, nil
				}
				if attempts++; attempts == limit {
					_ = t.Unlink(fixtures.Lock) // surely stale by now
				}
				t.Sleep(time.Second)
			}
			return scenarios.Hold{}, nil
		}
		return l
	}
	all := 100
	for _, limit := range []int{1, 2, 3, 10, 99, 100, 101, 200, 5000, 9999} {
		sc := fixtures.New("toy/impatient/contend", impatient(limit), scenarios.Setting{Processes: 2})
		_, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
		require.ErrorContains(t, err, "carries something over", limit)
		for _, o := range []Options{{oracle: reference}, {Preemptions: &all}} {
			r, err := Check(context.Background(), sc, scenarios.MutualExclusion, o)
			if err == nil { // it was impatient in a run, and that was seen
				require.Equal(t, Broken, r.Verdict, limit)
				continue
			}
			require.ErrorContains(t, err, "carries something over", limit)
		}
	}
	var tried Tried
	sc := fixtures.New("toy/impatient/contend", impatient(300), scenarios.Setting{Processes: 2})
	for range 2 { // what was found is found again
		_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{Tried: &tried})
		require.ErrorContains(t, err, "carries something over")
	}
	require.Equal(t, 10_000, learn.UnrolledRounds, "more is believed to be endless")
	sc = fixtures.New("toy/impatient/contend", impatient(20_000), scenarios.Setting{Processes: 2})
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, "assumes that a retry loop whose rounds do the same 10000 times goes on for ever", r.Patience())
}

// A probe that unlinks the lock after 200 attempts gets through.
func TestProbeThatLosesPatience(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := fixtures.New("toy/excl/crash", fixtures.Excl(), scenarios.Setting{Processes: 2, Crashes: 1})
	probe := func(limit int) scenarios.Probe {
		return func(t *scenarios.Task) error {
			for attempts, retry := 0, t.Retry(); retry.Next(); attempts++ {
				if _, err := fixtures.Excl().Acquire(t); err == nil {
					return nil
				}
				if attempts == limit {
					_ = t.Unlink(fixtures.Lock)
				}
				t.Sleep(time.Second)
			}
			return nil
		}
	}
	for limit, want := range map[int]Verdict{200: Holds, -1: Broken} {
		sc.Probe = probe(limit)
		r, err := Check(context.Background(), sc, scenarios.Wedge, Options{})
		require.NoError(t, err)
		require.Equal(t, want, r.Verdict, limit)
	}
}

// What one kind of round leaves behind may show only after a round of another kind: with
// the results of any one round again and again this program does the same for ever.
func TestKindsOfRoundsThatCarrySomethingOver(t *testing.T) {
	once := fixtures.Excl()
	l := fixtures.Excl()
	l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		was := 0
		for retry := t.Retry(); retry.Next(); {
			if h, err := once.Acquire(t); err == nil {
				return h, nil
			}
			is := 1
			if _, err := t.Stat(fixtures.Lock); err != nil {
				is = 2
			}
			if was == 2 && is == 1 {
				_ = t.Unlink(fixtures.Lock) // it was gone and is there again: surely not meant
			}
			was = is
			t.Sleep(time.Second)
		}
		return scenarios.Hold{}, nil
	}
	sc := fixtures.New("toy/kinds-of-rounds/contend", l, scenarios.Setting{Processes: 2})
	_, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
	require.ErrorContains(t, err, "carries something over")
}

// Temporary files in a round get the names they got in the first.
func TestTemporaryFilesInARound(t *testing.T) {
	fixtures.OnlyAnswers(t)
	l := fixtures.Excl()
	l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.CreateTemp("/tmp", "lock-*")
			if err != nil {
				return scenarios.Hold{}, err
			}
			err = t.Link(f.Name(), fixtures.Lock)
			_ = t.Unlink(f.Name())
			if err == nil {
				return scenarios.Hold{File: f}, nil
			}
			_ = f.Close()
			t.Sleep(time.Second)
		}
		return scenarios.Hold{}, nil
	}
	sc := fixtures.New("toy/link-temp/contend", l, scenarios.Setting{Processes: 2})
	r, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict, r.Why)
	require.Positive(t, r.Stats.Contended)
}
