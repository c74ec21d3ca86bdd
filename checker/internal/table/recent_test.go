package table

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a Recent says that it knows it was asked for, to the last word; and what it was asked for last it knows.
func TestRecent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 3).Draw(t, "width")
		r, asked := NewRecent(width), map[[3]uint32]bool{}
		for range 200 {
			var row [3]uint32
			for i := range width {
				row[i] = rapid.Uint32Range(0, 20).Draw(t, "word")
			}
			if known := r.Knows(row[:width]); known {
				require.True(t, asked[row])
			}
			require.True(t, r.Knows(row[:width]))
			asked[row] = true
		}
	})
	// Thousands of rows do not fit: two share a place, and neither is taken for the other.
	r := NewRecent(2)
	for i := range uint32(8 * recentRows) {
		require.False(t, r.Knows([]uint32{i, 7}))
	}
	forgotten := 0
	for i := range uint32(8 * recentRows) {
		if !r.Knows([]uint32{i, 7}) {
			forgotten++
		}
	}
	require.Greater(t, forgotten, 6*recentRows)
}
