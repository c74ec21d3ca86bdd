package checker

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/graph"
	"lockpick/checker/internal/search"
	"lockpick/internal/testmain"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// The engines against each other: the graph, which merges states and learns code; the
// reference, which runs every schedule from its start; and samples. They must agree on
// the verdict and on the set of distinct histories of complete runs.

// graphHistories explores the graph and returns the histories with which runs can end:
// those of the components that nothing leaves, and those of violations.
func graphHistories(t *testing.T, x *search.Explorer, spec model.Spec) map[string]bool {
	t.Helper()
	c, err := x.Explore(context.Background(), search.Limits{Workers: 1}, x.Initial)
	require.NoError(t, err)
	require.True(t, c.Complete, c.Why)
	g, err := x.BuildGraph(context.Background(), c, search.Limits{})
	require.NoError(t, err)
	ends := map[uint32]bool{}
	g.Components(func(uint32) bool { return true }, func(uint32, int) bool { return true }, func(component []uint32) {
		in := map[uint32]bool{}
		for _, id := range component {
			in[id] = true
		}
		for _, id := range component {
			to, _ := g.Edges(id)
			for _, v := range to {
				if v == graph.Bad || !in[v] {
					return
				}
			}
		}
		for _, id := range component {
			ends[c.States.Row(int(id), nil)[engine.WordHistory]] = true
		}
	})
	w := engine.NewExpander(x.Space)
	for id := range c.States.Span() {
		if !c.States.Has(id) {
			continue
		}
		require.NoError(t, w.Expand(c.States.Row(id, nil)))
		for i := range w.Out {
			if w.Out[i].Bad {
				ends[w.State(&w.Out[i])[engine.WordHistory]] = true
			}
		}
	}
	out := map[string]bool{}
	for id := range ends {
		out[fixtures.HistoryText(spec, x.Histories.Operations(id))] = true
	}
	return out
}

// A collected is what an engine that runs schedules has seen.
type collected struct {
	histories map[string]bool
	runs      int
	verdict   Verdict
	complete  bool
}

// referenceHistories runs every schedule, or as many as the budget allows.
func referenceHistories(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, spec model.Spec, budget int) collected {
	t.Helper()
	tr, err := search.NewTester(sc, p)
	require.NoError(t, err)
	c := collected{histories: map[string]bool{}, verdict: Holds}
	for d := (&sched.DepthFirst{}); ; {
		collect(t, tr, d, spec, &c)
		if !d.Advance() {
			c.complete = true
			return c
		}
		if c.runs >= budget {
			return c
		}
	}
}

func sampledHistories(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, spec model.Spec, runs int) collected {
	t.Helper()
	tr, err := search.NewTester(sc, p)
	require.NoError(t, err)
	c := collected{histories: map[string]bool{}, verdict: Holds}
	for seed := range runs {
		var st sched.Strategy = sched.NewRandom(uint64(seed))
		if seed%2 == 1 {
			st = sched.NewPCT(uint64(seed), 40, 4)
		}
		collect(t, tr, st, spec, &c)
	}
	return c
}

func collect(t *testing.T, tr *search.Tester, st sched.Strategy, spec model.Spec, c *collected) {
	tr.Live, tr.KeepHistory = true, true
	o, err := tr.Run(st, false)
	require.NoError(t, err)
	require.False(t, o.Cut)
	c.runs++
	if o.Broken {
		c.verdict = Broken
	}
	if o.Broken || o.Finished {
		c.histories[fixtures.HistoryText(spec, o.History)] = true
	}
}

// crossCheck compares the three on one property judged by history.
func crossCheck(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, budget, runs int) {
	spec := p.Spec
	x, err := search.NewExplorer(sc, p)
	require.NoError(t, err)
	x.Tried = tried(sc)
	graph := graphHistories(t, x, spec)
	r, err := ask(sc, p, true)
	require.NoError(t, err)
	ref := referenceHistories(t, sc, p, spec, budget)
	for h := range ref.histories {
		require.True(t, graph[h], "a history that the graph does not have:\n%s", h)
	}
	if ref.complete {
		require.Len(t, ref.histories, len(graph), "the graph has histories that no schedule has")
		require.Equal(t, ref.verdict, r.Verdict)
	} else {
		t.Logf("%d schedules are not all: %d of %d histories", ref.runs, len(ref.histories), len(graph))
	}
	sample := sampledHistories(t, sc, p, spec, runs)
	for h := range sample.histories {
		require.True(t, graph[h], "a history that the graph does not have:\n%s", h)
	}
	if sample.verdict == Broken || ref.verdict == Broken {
		require.Equal(t, Broken, r.Verdict)
	}
	if v, ok := sc.Claim(p); ok {
		require.Equal(t, v, r.Verdict)
	}
}

// crossVerdict compares verdicts, for properties that are not judged by history.
func crossVerdict(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, budget int) {
	g, err := ask(sc, p, false)
	if errors.Is(err, ErrNothingToJudge) {
		r, err := Check(context.Background(), sc, p, Options{oracle: referenceOf(budget), Tried: tried(sc)})
		if err == nil {
			require.Equal(t, Unknown, r.Verdict)
		} else {
			require.ErrorIs(t, err, ErrNothingToJudge)
		}
		return
	}
	require.NoError(t, err)
	if p == scenarios.Starvation {
		return // no one schedule shows it
	}
	r, err := Check(context.Background(), sc, p, Options{oracle: referenceOf(budget), Tried: tried(sc)})
	require.NoError(t, err)
	if r.Verdict == Unknown {
		t.Logf("%d schedules are not all", r.Stats.Schedules)
	} else {
		require.Equal(t, r.Verdict, g.Verdict)
	}
	if r.Verdict == Broken {
		require.False(t, r.Counterexample.Cost.Less(g.Counterexample.Cost), "%s %s", r.Counterexample.Schedule, g.Counterexample.Schedule)
	}
	if v, ok := sc.Claim(p); ok {
		require.Equal(t, v, g.Verdict)
	}
}

// affordable is how many schedules of a toy the reference engine runs: all, where these are at most
// most, and otherwise the few with which it begins. The first ones that there are differ in their last
// steps only, and many of them say no more than a few: samples show the rest.
func affordable(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, most, few int) int {
	t.Helper()
	x, err := search.NewExplorer(sc, p)
	require.NoError(t, err)
	x.Tried = tried(sc)
	c, err := x.Explore(t.Context(), search.Limits{Workers: 1}, x.Initial)
	require.NoError(t, err)
	require.True(t, c.Complete, c.Why)
	n, err := x.Schedules(t.Context(), c, search.Limits{})
	require.NoError(t, err)
	if n > float64(most) {
		return few
	}
	return most
}

func TestEnginesAgreeOnToys(t *testing.T) {
	testmain.Slow(t, "it asks every engine about every toy", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	few, runs := testmain.Many(500, 700, 5000), testmain.Many(100, 150, 1000)
	most := testmain.Many(few, 2500, 60_000)
	for _, sc := range allToys() {
		for _, p := range scenarios.Properties() {
			_, claimed := sc.Claim(p)
			if !claimed && p != scenarios.Deadlock && p != scenarios.ForeignRelease {
				continue
			}
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) {
				budget := affordable(t, sc, p, most, few)
				if p.Judgement() == scenarios.ByHistory {
					crossCheck(t, sc, p, budget, runs)
				} else {
					crossVerdict(t, sc, p, budget)
				}
			})
		}
	}
}

// Of the catalogue the reference engine can finish next to nothing: every run that it
// and the samples make must be one of the graph's all the same.
func TestEnginesAgreeOnTheCatalogue(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	budget, runs := testmain.Many(200, 200, 1500), testmain.Many(100, 100, 300)
	for _, sc := range fixtures.Rows() {
		for _, c := range sc.Claims {
			t.Run(sc.ID+"/"+c.Property.ID, func(t *testing.T) {
				switch {
				case c.Property.Judgement() != scenarios.ByHistory:
					crossVerdict(t, &sc, c.Property, budget)
				case largeRows[sc.ID]:
					t.Skip("SKIPPED: more than 100 000 states, whose histories are too many to list; go test ./checker/internal/engine compares it step by step (TestLockstep)")
				default:
					crossCheck(t, &sc, c.Property, budget, runs)
				}
			})
		}
	}
}
