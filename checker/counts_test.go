package checker

import (
	"context"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// Counts against closed forms.

// privateSteps is n processes of k private steps each.
func privateSteps(n, k int, st scenarios.Setting) *scenarios.Scenario {
	st.Processes = n
	claim := scenarios.Claim{Property: scenarios.Deadlock, Verdict: Holds}
	return fixtures.Programs("toy/private/steps", st, fixtures.Same(func(t *scenarios.Task) {
		for range k {
			t.Work()
		}
	}), claim)
}

func power(a, b int) int {
	n := 1
	for range b {
		n *= a
	}
	return n
}

// multinomial is the number of ways to interleave n sequences of k steps.
func multinomial(n, k int) *big.Int {
	v := new(big.Int).MulRange(1, int64(n*k))
	for range n {
		v.Div(v, new(big.Int).MulRange(1, int64(k)))
	}
	return v
}

func counted(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) Stats {
	t.Helper()
	r, err := Check(context.Background(), sc, p, Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	return r.Stats
}

// deaths explores a space for a property that knows deaths; there is no verdict, for
// nobody acquires anything.
func deaths(t *testing.T, sc *scenarios.Scenario) Stats {
	t.Helper()
	x, err := search.NewExplorer(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	c, err := x.Explore(context.Background(), search.Limits{Workers: 1}, x.Initial)
	require.NoError(t, err)
	s := Stats{States: c.States.Len()}
	s.learned(x)
	return s
}

// Every process is somewhere among its k+1 places, and all places go together. A
// daemon ends with its last step; another process makes one more step, its exit.
func TestCountsOfPrivateSteps(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for n := 1; n <= 4; n++ {
		for k := 1; k <= 4; k++ {
			name := fmt.Sprintf("%d processes of %d steps", n, k)
			s := counted(t, privateSteps(n, k, scenarios.Setting{Daemons: true}), scenarios.Deadlock)
			require.Equal(t, power(k+1, n), s.States, name)
			require.Equal(t, n*k*power(k+1, n-1), s.Transitions, name)
			require.Equal(t, n*k+1, s.Depth, "%s: levels", name)
			require.Equal(t, 1, s.Machines, name)
			require.Equal(t, n*(k+1), s.Edges, "%s: edges and starts", name)
			// Each edge is learned by one run, and the longest path of each process run again.
			require.Equal(t, s.Edges+n, s.Coroutines, name)

			s = counted(t, privateSteps(n, k, scenarios.Setting{}), scenarios.Deadlock)
			require.Equal(t, power(k+2, n), s.States, "%s with exits", name)
			require.Equal(t, n*(k+1)*power(k+2, n-1), s.Transitions, "%s with exits", name)
			require.Equal(t, power(2, n), s.Machines, "%s: who has exited", name)
		}
	}
}

// A killed process is as gone as one that has exited: only the budget tells, and the
// history when the property knows deaths.
func TestCountsOfFaults(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for n := 1; n <= 3; n++ {
		for k := 1; k <= 3; k++ {
			name := fmt.Sprintf("%d processes of %d steps", n, k)
			all, alive := power(k+2, n), power(k+1, n)
			crash := privateSteps(n, k, scenarios.Setting{Crashes: 1})
			s := counted(t, crash, scenarios.Deadlock)
			// With the crash left: anywhere. Without: at least one is gone.
			require.Equal(t, all+all-alive, s.States, name)
			// With the crash left: a step and a kill of everybody who is not gone. Without:
			// a step of those, where one is gone.
			steps := n * (k + 1) * power(k+2, n-1)
			require.Equal(t, 2*steps+(steps-n*alive), s.Transitions, name)

			s = deaths(t, crash)
			require.Equal(t, all+n*power(k+2, n-1), s.States, "%s: the history knows who died", name)
			require.Equal(t, 1+n, s.Histories, name)

			s = counted(t, privateSteps(n, k, scenarios.Setting{Stalls: 2, StallFor: time.Hour}), scenarios.Deadlock)
			require.Equal(t, 3*all, s.States, "%s: with two, one and no stall left", name)
			require.Equal(t, 3*steps+2*(all-1), s.Transitions, "%s: no stall when all are gone", name)
		}
	}
}

// Tasks of one process interleave like processes, and the process exits once.
func TestCountsOfTasks(t *testing.T) {
	st := scenarios.Setting{Processes: 1, Tasks: []int{3}}
	sc := privateSteps(1, 2, st)
	s := counted(t, sc, scenarios.Deadlock)
	require.Equal(t, power(3, 3)+1, s.States)
	require.Equal(t, 3*2*power(3, 2)+1, s.Transitions)
}

// The reference engine runs each schedule exactly once: their number is multinomial.
// The graph has as many ways from its start to its end.
func TestCountsOfSchedules(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		shape := rapid.SampledFrom([][2]int{{1, 5}, {2, 1}, {2, 2}, {2, 3}, {2, 4}, {3, 1}, {3, 2}, {4, 1}}).Draw(rt, "n, k")
		daemons := rapid.Bool().Draw(rt, "daemons")
		sc := privateSteps(shape[0], shape[1], scenarios.Setting{Daemons: daemons})
		steps := shape[1]
		if !daemons {
			steps++
		}
		r, err := Check(context.Background(), sc, scenarios.Deadlock, Options{oracle: reference})
		require.NoError(rt, err)
		want := multinomial(shape[0], steps)
		require.Equal(rt, want.String(), fmt.Sprint(r.Stats.Schedules))
		ways, err := countSchedules(sc)
		require.NoError(rt, err)
		require.Equal(rt, want.String(), ways.String())
	})
}

// The graph has as many ways through it as there are schedules, on every toy without
// retry loops.
func TestWaysThroughTheGraphAreSchedules(t *testing.T) {
	testmain.Slow(t, "it follows thousands of schedules", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	most := int64(testmain.Many(1000, 5000, 40_000))
	for _, sc := range allToys() {
		ways, err := countSchedules(sc)
		if err != nil {
			continue // a cycle
		}
		if !ways.IsInt64() || ways.Int64() > most {
			continue
		}
		tr, err := search.NewTester(sc, scenarios.Deadlock)
		require.NoError(t, err)
		r, _, err := tr.SearchAll(context.Background(), 50_000, true)
		require.NoError(t, err)
		require.Equal(t, ways.String(), fmt.Sprint(r.Schedules), sc.ID)
	}
}

// countSchedules counts the complete schedules of a scenario without retry loops, by
// adding up ways over the graph, without histories or violations in it.
func countSchedules(sc *scenarios.Scenario) (*big.Int, error) {
	x, err := search.NewExplorer(sc, scenarios.Deadlock)
	if err != nil {
		return nil, err
	}
	c, err := x.Explore(context.Background(), search.Limits{}, x.Initial)
	if err != nil {
		return nil, err
	}
	g, err := x.BuildGraph(context.Background(), c, search.Limits{})
	if err != nil {
		return nil, err
	}
	ways := make([]*big.Int, g.Len())
	g.Components(func(uint32) bool { return true }, func(uint32, int) bool { return true }, func(component []uint32) {
		if err != nil {
			return
		}
		id := component[0]
		to, _ := g.Edges(id)
		n := new(big.Int)
		if len(to) == 0 {
			n.SetInt64(1)
		}
		for _, v := range to {
			if len(component) > 1 || v == id {
				err = fmt.Errorf("a retry loop: there is no end of schedules")
				return
			}
			n.Add(n, ways[v])
		}
		ways[id] = n
	})
	if err != nil {
		return nil, err
	}
	start, _ := c.States.Find(x.Initial)
	return ways[start], nil
}
