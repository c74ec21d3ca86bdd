package checker

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// A program that loses patience after some attempts is not what its first round looks
// like, and must not get a verdict as if it were.
func TestRoundsThatCarrySomethingOver(t *testing.T) {
	impatient := func(limit int) scenarios.Protocol {
		once := toyExcl()
		l := toyExcl()
		l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
			attempts := 0
			for retry := t.Retry(); retry.Next(); {
				if h, err := once.Acquire(t); err == nil {
					return h, nil
				}
				if attempts++; attempts == limit {
					_ = t.Unlink(toyLock) // surely stale by now
				}
				t.Sleep(time.Second)
			}
			return scenarios.Hold{}, nil
		}
		return l
	}
	for _, limit := range []int{1, 2, 3, 10, 99} {
		sc := toy("toy/impatient/contend", impatient(limit), scenarios.Setting{Processes: 2})
		_, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
		require.ErrorContains(t, err, "carries something over", limit)
	}
}

// Temporary files in a round get the names they got in the first.
func TestTemporaryFilesInARound(t *testing.T) {
	l := toyExcl()
	l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.CreateTemp("/tmp", "lock-*")
			if err != nil {
				return scenarios.Hold{}, err
			}
			err = t.Link(f.Name(), toyLock)
			_ = t.Unlink(f.Name())
			if err == nil {
				return scenarios.Hold{File: f}, nil
			}
			_ = f.Close()
			t.Sleep(time.Second)
		}
		return scenarios.Hold{}, nil
	}
	sc := toy("toy/link-temp/contend", l, scenarios.Setting{Processes: 2})
	r, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict, r.Why)
	require.Positive(t, r.Stats.Contended)
}
