package learn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A writer writes the same piece again and again, and never sleeps.
type writer struct{}

func (writer) Next() (fsfake.Op, bool, []any, error) {
	return fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "piece"}, true, nil, nil
}
func (writer) Answer(fsfake.Result) error { return nil }
func (writer) Stop()                      {}

// A long text that is written in equal pieces is learned piece by piece: no piece is the top of a round. It is
// learned in less than a second, and would not be within the time limit of tests if all lengths of rounds were
// compared at each piece.
func TestLongTexts(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	sc := fixtures.New("toy/writes/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
	sc.External = true
	a, err := learn.New(sc, func(int, int) (learn.Code, error) { return writer{}, nil }, 0, 1)
	require.NoError(t, err)
	const pieces = 16_000
	at, written := a.First(), &fsfake.Result{N: 5}
	for range pieces {
		e, err := a.Learn(at, written)
		require.NoError(t, err)
		require.NotEqual(t, at, e.To)
		require.False(t, e.Back)
		at = e.To
	}
}
