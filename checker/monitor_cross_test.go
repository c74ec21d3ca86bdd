package checker

import (
	"cmp"
	"context"
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/history"
	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/model"
	"lockpick/scenarios"
)

// monitorSays tells a monitor of a history, event by event, and returns its verdict.
func monitorSays(spec model.Spec, ops []porcupine.Operation) bool {
	type event struct {
		at  int64
		op  porcupine.Operation
		ret bool
	}
	var events []event
	for _, op := range history.Only(spec, ops) {
		events = append(events, event{op.Call, op, false})
		if op.Return != trace.Never {
			events = append(events, event{op.Return, op, true})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	m := model.NewMonitor(spec)
	for _, e := range events {
		if e.ret {
			m.Return(e.op.ClientId, e.op.Output)
		} else {
			m.Invoke(e.op.ClientId, e.op.Input)
		}
	}
	return !m.Violated()
}

// The incremental monitor and porcupine agree on every history that any state of the
// scenario has, violating ones included.
func monitorAgrees(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) {
	if p.Judgement() != scenarios.ByHistory {
		return
	}
	spec := p.Spec
	x, err := search.NewExplorer(sc, p)
	require.NoError(t, err)
	x.Tried = tried(sc)
	_, err = x.Explore(context.Background(), search.Limits{States: 300_000}, x.Initial)
	require.NoError(t, err)
	bad := 0
	for id := range x.Histories.Len() {
		ops := x.Histories.Operations(uint32(id))
		want := porcupine.CheckOperations(spec.Porcupine(), ops)
		if got, fresh := x.Histories.OK(uint32(id)), monitorSays(spec, ops); got != want || fresh != want {
			require.Failf(t, "they differ", "%s %s: porcupine %v, the graph's monitor %v, a fresh one %v:\n%s", sc.ID, p, want, got, fresh, fixtures.HistoryText(spec, ops))
		}
		if !want {
			bad++
		}
	}
	if v, ok := sc.Claim(p); ok {
		require.Equal(t, v == Broken, bad > 0, "%s %s: %d violations", sc.ID, p, bad)
	}
}

func TestMonitorAgreesWithPorcupine(t *testing.T) {
	t.Parallel()
	for _, sc := range allToys() {
		if race.Detector {
			break // the rows show how workers share histories
		}
		for _, c := range sc.Claims {
			monitorAgrees(t, sc, c.Property)
		}
	}
	for i, sc := range fixtures.Rows() {
		if largeRows[sc.ID] && !testmain.Long() || race.Detector && i%6 != 0 {
			continue
		}
		for _, c := range sc.Claims {
			monitorAgrees(t, &sc, c.Property)
		}
	}
}

// Whether states remember histories or monitors, the verdict and the smallest
// counterexample are the same, and so are the odds.
func TestMemoriesAgree(t *testing.T) {
	t.Parallel()
	list := allToys()
	if race.Detector {
		list = nil // the rows show how workers share monitors
	}
	for i, sc := range fixtures.Rows() {
		if !largeRows[sc.ID] && (i%2 == 0 && !race.Detector || i%6 == 0 || testmain.Long()) {
			list = append(list, &sc)
		}
	}
	for _, sc := range list {
		for _, c := range sc.Claims {
			if c.Property.Judgement() != scenarios.ByHistory {
				continue
			}
			a, err := ask(sc, c.Property, true)
			require.NoError(t, err)
			b, err := Check(context.Background(), sc, c.Property, Options{Memory: RememberMonitors, Tried: tried(sc)})
			require.NoError(t, err)
			require.Equal(t, a.Verdict, b.Verdict, "%s %s", sc.ID, c.Property)
			require.LessOrEqual(t, b.Stats.States, a.Stats.States)
			require.Equal(t, a.Stats.Machines, b.Stats.Machines)
			require.InDelta(t, a.Odds, b.Odds, 1e-9, "%s %s", sc.ID, c.Property)
			if a.Verdict == Broken {
				require.Equal(t, a.Counterexample.Schedule, b.Counterexample.Schedule, "%s %s", sc.ID, c.Property)
			}
		}
	}
}
