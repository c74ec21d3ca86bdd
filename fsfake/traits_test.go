package fsfake

import (
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
		Follows:    {CallStat, CallTruncate, CallUtimes, CallChmod, CallChown, CallChdir, CallConnect},
		Asks:       {CallKill, CallStartTime, CallProcs, CallNow, CallConnect, CallListen},
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
