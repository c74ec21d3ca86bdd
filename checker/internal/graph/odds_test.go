package graph

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// write makes a graph of the states' edges; a state without edges is an end.
func write(edges [][]uint32) *Graph {
	g := New(len(edges))
	for _, to := range edges {
		for _, v := range to {
			g.Edge(v, 0)
		}
		g.End(true, false)
	}
	return g
}

// climb is a way of n steps, each of which may fall back to the start; at its end the property
// breaks. Whoever goes on for ever gets there, after 2^n steps.
func climb(n int, more ...uint32) *Graph {
	var edges [][]uint32
	for i := range n {
		up := uint32(i + 1)
		if i == n-1 {
			up = Bad
		}
		edges = append(edges, append([]uint32{0, up}, more...))
	}
	return write(edges)
}

const patient = 100_000_000

// A sweep changes little here, and the odds are 1 all the same.
func TestOddsOfALongWay(t *testing.T) {
	for _, n := range []int{2, 10, 15} {
		o, err := climb(n).odds(context.Background(), 0, patient)
		require.NoError(t, err)
		require.True(t, o.Converged(), "%d: %v", n, o)
		require.InDelta(t, 1, o.Value(), 1e-9, "%d", n)
	}
}

// A rare event keeps its digits: there are three ways on from each step, one of which ends it.
func TestOddsOfARareEvent(t *testing.T) {
	for _, n := range []int{10, 60, 200} {
		g := climb(n, uint32(n)) // state n is an end
		g.End(true, false)
		o, err := g.odds(context.Background(), 0, patient)
		require.NoError(t, err)
		// p = x^n / (x^n + …): from the start, each try gets up with u = 3^-n, or ends.
		up, end := math.Pow(3, -float64(n)), 0.0
		for i := range n {
			end += math.Pow(3, -float64(i+1))
		}
		require.InEpsilon(t, up/(up+end), o.Value(), 1e-9, "%d", n)
	}
}

// What takes too long is said to be bounds.
func TestOddsThatDoNotConverge(t *testing.T) {
	g := climb(200)
	o, err := g.odds(context.Background(), 0, 1000)
	require.NoError(t, err)
	require.False(t, o.Converged(), "%v", o)
	require.Less(t, o.Low, 0.1)
	require.InDelta(t, 1, o.High, 1e-9, "the truth lies between")
}

func TestOddsAreInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := climb(5000).Odds(ctx, 0)
	require.ErrorIs(t, err, context.Canceled)
}

// Iteration agrees on drawn graphs with elimination of them whole.
func TestOddsOfDrawnGraphs(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		n := 2 + r.IntN(150)
		edges := make([][]uint32, n)
		for i := range edges {
			for range r.IntN(4) {
				v := uint32(r.IntN(n))
				if r.IntN(40) == 0 {
					v = Bad
				}
				edges[i] = append(edges[i], v)
			}
		}
		g := write(edges)
		want := plain(edges)
		o, err := g.odds(context.Background(), 0, patient)
		require.NoError(t, err)
		require.True(t, o.Converged(), "seed %d: %v", seed, o)
		require.InDelta(t, want, o.Value(), 1e-9, "seed %d", seed)
	}
}

// plain solves the equations of all states that can reach anything bad, with pivots.
func plain(edges [][]uint32) float64 {
	n := len(edges)
	can := make([]bool, n)
	for range n {
		for i, to := range edges {
			for _, v := range to {
				can[i] = can[i] || v == Bad || can[v]
			}
		}
	}
	a := make([][]float64, n)
	for i, to := range edges {
		a[i] = make([]float64, n+1)
		a[i][i] = 1
		for _, v := range to {
			switch {
			case !can[i]:
			case v == Bad:
				a[i][n] += 1 / float64(len(to))
			case can[v]:
				a[i][v] -= 1 / float64(len(to))
			}
		}
	}
	for i := range a {
		best := i
		for j := i; j < n; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[best][i]) {
				best = j
			}
		}
		a[i], a[best] = a[best], a[i]
		for j := range a {
			if j != i && a[j][i] != 0 {
				f := a[j][i] / a[i][i]
				for k := range a[j] {
					a[j][k] -= f * a[i][k]
				}
			}
		}
	}
	return a[0][n] / a[0][0]
}
