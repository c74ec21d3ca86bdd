package graph

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func schedules(t *testing.T, edges [][]uint32, bad ...uint32) float64 {
	t.Helper()
	g := New(len(edges))
	for id, to := range edges {
		for _, v := range to {
			g.Edge(v, 0)
		}
		isBad := false
		for _, b := range bad {
			isBad = isBad || b == uint32(id)
		}
		g.End(true, isBad)
	}
	n, err := g.Schedules(t.Context(), 0)
	require.NoError(t, err)
	return n
}

func TestSchedules(t *testing.T) {
	require.Equal(t, 1.0, schedules(t, [][]uint32{{}}))
	require.Equal(t, 2.0, schedules(t, [][]uint32{{1, 2}, {3}, {3}, {}}), "two steps in two orders")
	require.Equal(t, 3.0, schedules(t, [][]uint32{{1, 2, Bad}, {3}, {3}, {}}))
	require.Equal(t, 2.0, schedules(t, [][]uint32{{1, 2}, {3}, {3, 0, 1}, {}}, 2), "what breaks ends a schedule")
	require.Equal(t, 2.0, schedules(t, [][]uint32{{1, 2}, {0, 3}, {}, {}}), "a loop that is left in two ways")
	require.Equal(t, 1.0, schedules(t, [][]uint32{{1}, {0}}), "a loop that nobody leaves")

	// Two tasks of ten steps each: 20 over 10.
	const n = 11
	var grid [][]uint32
	for i := range n * n {
		var to []uint32
		if i%n < n-1 {
			to = append(to, uint32(i+1))
		}
		if i/n < n-1 {
			to = append(to, uint32(i+n))
		}
		grid = append(grid, to)
	}
	require.Equal(t, 184756.0, schedules(t, grid))
}

func TestSchedulesStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := New(5000)
	for i := range uint32(5000) {
		if i+1 < 5000 {
			g.Edge(i+1, 0)
		}
		g.End(true, false)
	}
	_, err := g.Schedules(ctx, 0)
	require.ErrorIs(t, err, context.Canceled)
}
