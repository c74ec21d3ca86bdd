package learn_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// BenchmarkCall is what one call of a program costs that is run over its answers: to its next call
// and back. Retry loops are tried out for 10 000 rounds, so this is most of small checks.
func BenchmarkCall(b *testing.B) {
	sc := fixtures.New("toy/polls/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
	code, err := learn.Functions(sc)(0, 1)
	require.NoError(b, err)
	defer code.Stop()
	exists := fsfake.Result{Errno: fsfake.EEXIST}
	b.ReportAllocs()
	for b.Loop() {
		_, more, _, err := code.Next()
		if err != nil || !more {
			b.Fatal(more, err)
		}
		if err := code.Answer(exists); err != nil {
			b.Fatal(err)
		}
	}
}
