package table

import (
	"testing"

	"lockpick/checker/internal/parallel"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A table of keys numbers them as a map would.
func TestKeyTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tb Keys
		ids := map[string]uint32{}
		var keys []string
		key := rapid.OneOf(rapid.StringN(0, 3, 3), rapid.StringN(0, 40, 200), rapid.Just(string(make([]byte, keyPage+1))))
		for range rapid.IntRange(0, 300).Draw(t, "keys") {
			k := key.Draw(t, "key")
			want, known := ids[k]
			if !known {
				want = uint32(len(keys))
				ids[k], keys = want, append(keys, k)
			}
			at, found := tb.Find([]byte(k))
			require.Equal(t, known, found)
			if known {
				require.Equal(t, want, at)
			}
			got, isNew := tb.ID([]byte(k))
			require.Equal(t, want, got)
			require.Equal(t, !known, isNew)
		}
		for id, k := range keys {
			require.Equal(t, k, string(tb.Key(uint32(id))))
		}
		require.Equal(t, len(keys), tb.Len())
	})
}

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
			tb.Put(key(i), i+1)
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

// A memo that forgets stays small, knows what was entered lately and what was asked for again and again, and says nothing wrong.
func TestMemo(t *testing.T) {
	var tb, all Memo
	require.Zero(t, tb.Get(1))
	const n = 3 * generation
	asked := 0
	for i := range uint64(n) {
		tb.Put(i<<32, i+1, true)
		all.Put(i<<32, i+1, false)
		if tb.Get(7<<32) == 8 {
			asked++
		}
		if got := tb.Get(i / 2 << 32); got != 0 && got != i/2+1 {
			t.Fatalf("%d is remembered as %d", i/2, got)
		}
		if tb.Get(i<<32) != i+1 {
			t.Fatalf("%d is forgotten at once", i)
		}
	}
	require.Equal(t, n-7, asked, "it was asked for all the time")
	require.Zero(t, tb.Get(8<<32))
	require.EqualValues(t, 9, all.Get(8<<32))
	require.LessOrEqual(t, tb.Bytes(), 1<<20)
}
