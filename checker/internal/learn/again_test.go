package learn_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// What a slow program keeps while it is learned it does not get when that is looked at again: what
// differs between two starts of it would go unnoticed.
func TestAgainKeepsItsOwn(t *testing.T) {
	var seen []*scenarios.Learning
	sc := fixtures.New("toy/polls/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
	sc.External = true
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			seen = append(seen, t.Learning)
			_ = t.Mkdir("/a", 0o755)
			_ = t.Mkdir("/b", 0o755)
		}
	}
	a, err := learn.New(sc, learn.Functions(sc), 0, 1)
	require.NoError(t, err)
	defer a.Close()
	for at := a.First(); at > learn.Ended; {
		e, err := a.Learn(at, &fsfake.Result{})
		require.NoError(t, err)
		at = e.To &^ learn.Begun
	}
	learned := len(seen)
	require.NoError(t, a.Verify(context.Background(), &learn.Tried{}, 1))
	require.Greater(t, len(seen), learned)
	for i, l := range seen {
		require.NotNil(t, l)
		require.Equal(t, i >= learned, l.Again)
	}
	require.NotSame(t, seen[0], seen[len(seen)-1])
}
