package search

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// quotient counts the states of a space that differ in what can follow: whose steps, and what these
// lead to.
func quotient(t *testing.T, x *Explorer, c *Coverage) int {
	t.Helper()
	w := engine.NewExpander(x.Space)
	type edge struct {
		choice uint32
		to     int
	}
	edges := make([][]edge, c.States.Len())
	choices := map[string]uint32{}
	for id := range edges {
		require.NoError(t, w.Expand(c.States.Row(id, nil)))
		for i := range w.Out {
			s := &w.Out[i]
			to, there := c.States.Find(w.State(s))
			require.True(t, there)
			name := s.Choice.String()
			if _, known := choices[name]; !known {
				choices[name] = uint32(len(choices))
			}
			edges[id] = append(edges[id], edge{choices[name], to})
		}
	}
	class, n := make([]uint32, len(edges)), 1
	for {
		next, seen := make([]uint32, len(edges)), map[string]uint32{}
		for id, out := range edges {
			var words []uint64
			for _, e := range out {
				words = append(words, uint64(e.choice)<<32|uint64(class[e.to]))
			}
			slices.Sort(words)
			key := []byte(nil)
			for _, v := range slices.Compact(words) {
				key = binary.LittleEndian.AppendUint64(key, v)
			}
			key = binary.LittleEndian.AppendUint32(key, class[id])
			if _, known := seen[string(key)]; !known {
				seen[string(key)] = uint32(len(seen))
			}
			next[id] = seen[string(key)]
		}
		if class = next; len(seen) == n {
			return n
		}
		n = len(seen)
	}
}

// A space in which inode numbers are forgotten is the whole one with states put together that nothing tells
// apart: both have as many that something does.
func TestForgettingKeepsWhatCanFollow(t *testing.T) {
	testmain.Slow(t, "it explores spaces twice", "./checker/internal/search")
	fixtures.OneWorker(t)
	t.Parallel()
	fewer := 0
	for _, s := range sizes() {
		if s.Processes > 3 || !slices.Contains([]string{"ctx", "flopen, blocking", "hg, no bound", "agentwire, no bound"}, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			if s.Name == "agentwire, no bound" {
				testmain.Slow(t, "the whole space has 22 000 states", "./checker/internal/search")
			}
			x, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
			require.NoError(t, err)
			x.KeepNumbers = true
			whole, err := x.Explore(t.Context(), Limits{Workers: 1}, x.Initial)
			require.NoError(t, err)
			want := quotient(t, x, whole)
			y, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
			require.NoError(t, err)
			forgetful, err := y.Explore(t.Context(), Limits{Workers: 1}, y.Initial)
			require.NoError(t, err)
			require.Equal(t, want, quotient(t, y, forgetful))
			if forgetful.States.Len() < whole.States.Len() {
				fewer++
			}
		})
	}
	require.Positive(t, fewer, "nothing was forgotten")
}
