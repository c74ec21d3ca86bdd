package checker

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/graph"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// The engines against each other: the graph, which merges states and learns code; the
// reference, which runs every schedule from its start; and samples. They must agree on
// the verdict and on the set of distinct histories of complete runs.

// graphHistories explores the graph and returns the histories with which runs can end:
// those of the components that nothing leaves, and those of violations.
func graphHistories(t *testing.T, x *explorer, spec model.Spec) map[string]bool {
	t.Helper()
	c, err := x.explore(context.Background(), Options{Workers: 1}, x.initial)
	require.NoError(t, err)
	require.True(t, c.complete, c.why)
	g, err := x.buildGraph(context.Background(), c.states)
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
			ends[c.states.Row(int(id))[wordHistory]] = true
		}
	})
	w := newWorker(x)
	for id := range c.states.Span() {
		if !c.states.Has(id) {
			continue
		}
		require.NoError(t, w.expand(c.states.Row(id)))
		for i := range w.out {
			if w.out[i].bad {
				ends[w.state(&w.out[i])[wordHistory]] = true
			}
		}
	}
	out := map[string]bool{}
	for past := range ends {
		out[historyText(spec, x.pastOperations(past))] = true
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
	tr, err := newTester(sc, p)
	require.NoError(t, err)
	c := collected{histories: map[string]bool{}, verdict: Holds}
	for d := (&depthFirst{}); ; {
		tr.collect(t, d, spec, &c)
		if !d.advance(len(d.path)) {
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
	tr, err := newTester(sc, p)
	require.NoError(t, err)
	c := collected{histories: map[string]bool{}, verdict: Holds}
	for seed := range runs {
		var st sched.Strategy = sched.NewRandom(uint64(seed))
		if seed%2 == 1 {
			st = sched.NewPCT(uint64(seed), 40, 4)
		}
		tr.collect(t, st, spec, &c)
	}
	return c
}

func (tr *tester) collect(t *testing.T, st sched.Strategy, spec model.Spec, c *collected) {
	o, err := tr.run(st, true)
	require.NoError(t, err)
	require.False(t, o.cut)
	c.runs++
	if o.broken {
		c.verdict = Broken
	}
	if o.broken || o.finished {
		c.histories[historyText(spec, o.history)] = true
	}
}

// crossCheck compares the three on one property judged by history.
func crossCheck(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, budget, runs int) {
	spec := p.Spec
	x, err := newExplorer(sc, p)
	require.NoError(t, err)
	graph := graphHistories(t, x, spec)
	r, err := Check(context.Background(), sc, p, Options{Workers: 1, SkipOdds: true, Memory: RememberHistories})
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
	g, err := Check(context.Background(), sc, p, Options{Workers: 1, SkipOdds: true})
	if errors.Is(err, ErrNothingToJudge) {
		r, err := Check(context.Background(), sc, p, Options{Engine: Reference, Schedules: budget})
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
	r, err := Check(context.Background(), sc, p, Options{Engine: Reference, Schedules: budget})
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

func TestEnginesAgreeOnToys(t *testing.T) {
	t.Parallel()
	budget := 60_000
	if testing.Short() {
		budget = 5000
	}
	for _, sc := range toys() {
		for _, p := range scenarios.Properties() {
			_, claimed := sc.Claim(p)
			if !claimed && p != scenarios.Deadlock && p != scenarios.ForeignRelease {
				continue
			}
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) {
				if p.Judgement() == scenarios.ByHistory {
					crossCheck(t, sc, p, budget, 500)
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
	t.Parallel()
	budget, runs := 1500, 300
	if testing.Short() {
		budget, runs = 200, 100
	}
	for _, sc := range rows() {
		for _, c := range sc.Claims {
			t.Run(sc.ID+"/"+c.Property.ID, func(t *testing.T) {
				switch {
				case c.Property.Judgement() != scenarios.ByHistory:
					crossVerdict(t, &sc, c.Property, budget)
				case large[sc.ID]:
					t.Skip("more than 100 000 states: compared step by step only, in TestLockstep")
				default:
					crossCheck(t, &sc, c.Property, budget, runs)
				}
			})
		}
	}
}

// large are the rows with more than 100 000 states.
var large = map[string]bool{
	"gateguard/flock-rmw/crash":            true,
	"gateguard/excl-rmw/contend":           true,
	"gateguard/lease-rmw/stall":            true,
	"openclaw-takeover/guarded/dead-owner": true,
	"agentwire/blind-unlink/crash":         true,
	"agentwire/flock-only/crash":           true,
}
