package table

import (
	"testing"

	"lockpick/checker/internal/parallel"

	"github.com/stretchr/testify/require"
)

// The table that workers share knows what was put into it, or nothing.
func TestSharedTable(t *testing.T) {
	var tb Shared
	key := func(i uint64) uint64 {
		if i < 5000 {
			return i * 7 // all of one upper half
		}
		return i/7<<32 | i%7<<26 | i%3
	}
	parallel.Together(4, func(k int) {
		for i := range uint64(20_000) {
			tb.Put(key(i), i+1, false)
			if got := tb.Get(key(i + uint64(k))); got != 0 && got != i+uint64(k)+1 {
				panic("another's value")
			}
		}
	})
	known := 0
	for i := range uint64(20_000) {
		if got := tb.Get(key(i)); got != 0 {
			require.Equal(t, i+1, got)
			known++
		}
	}
	require.Greater(t, known, 10_000, "what is lost while the table grows is little")
	require.Zero(t, tb.Get(6<<32|3))
	require.Positive(t, tb.Bytes())
}

// A table that forgets stays small, knows what was entered last, and says nothing wrong.
func TestForgetful(t *testing.T) {
	var tb, all Shared
	require.Zero(t, tb.Get(1))
	const n = 3 * enough
	for i := range uint64(n) {
		tb.Put(i<<32, i+1, true)
		all.Put(i<<32, i+1, false)
		if got := tb.Get(i / 2 << 32); got != 0 && got != i/2+1 {
			t.Fatalf("%d is remembered as %d", i/2, got)
		}
		if tb.Get(i<<32) != i+1 {
			t.Fatalf("%d is forgotten at once", i)
		}
	}
	require.Zero(t, tb.Get(8<<32))
	require.EqualValues(t, 9, all.Get(8<<32))
	require.LessOrEqual(t, tb.Bytes(), 1<<20)
}
