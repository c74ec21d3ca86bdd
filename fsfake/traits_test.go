package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each call has a row of traits; one without any says so.
func TestEachCallHasTraits(t *testing.T) {
	for c := CallNone + 1; c < numCalls; c++ {
		require.NotZero(t, traits[c], "%s: give it its traits in traits.go, or Plain", c)
		require.True(t, traits[c] == Plain || !c.Is(Plain), "%s has traits, and is Plain", c)
	}
	require.False(t, CallNone.Is(^Trait(0)))
}

// The siblings that lists of calls had forgotten.
func TestTraitsForgetNoSibling(t *testing.T) {
	for trait, calls := range map[Trait][]Call{
		SetsTimes:  {CallUtimes, CallLutimes, CallFutimes},
		Duplicates: {CallDup, CallDup2, CallDup3},
		Follows:    {CallStat, CallTruncate, CallUtimes, CallChmod, CallChown, CallChdir},
		Asks:       {CallKill, CallStartTime, CallProcs, CallNow},
	} {
		for c := CallNone + 1; c < numCalls; c++ {
			is := false
			for _, other := range calls {
				is = is || c == other
			}
			require.Equal(t, is, c.Is(trait), "%s", c)
		}
	}
}

// Who sets a machine up and fails to take a lock is told.
func TestPrepareTellsOfFailedMakers(t *testing.T) {
	m := New(Options{})
	require.NoError(t, m.Proc(1).MkdirAll("/d", os.ModePerm))
	for _, op := range []Op{
		{Call: CallLutimes, Path: "/d/none"}, {Call: CallLchown, Path: "/d/none"}, {Call: CallFchmod, FD: 99},
		{Call: CallFchown, FD: 99}, {Call: CallFlock, FD: 99, Flags: LOCK_EX},
	} {
		err := m.Prepare(func(m *Machine) { m.Proc(1).Do(op) })
		require.Error(t, err, "%s", op.Call)
	}
}
