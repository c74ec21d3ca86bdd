package checker

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// What is known of an unknown verdict names the bound, the places and the faults that were left out.
func TestWithinIsTold(t *testing.T) {
	t.Parallel()
	r := Result{Why: "it was stopped", Within: &Within{Preemptions: 1, Places: 214}}
	require.Equal(t, "holds with up to 1 preemption (all 214 places), unknown beyond; it was stopped", r.Known())
	r.Within = &Within{Preemptions: 2, Places: 900, Faultless: true}
	require.Equal(t, "holds with up to 2 preemptions (the last at any of 900 places) and no fault, unknown beyond; it "+
		"was stopped", r.Known())
	r.Within = &Within{Preemptions: 1, Places: 3, Still: true}
	require.Equal(t, "holds with up to 1 preemption (all 3 places) while the clock stands still, unknown beyond; it was "+
		"stopped", r.Known())
	r.Within = &Within{Preemptions: 1, Places: 3, Fair: true}
	require.Equal(t, "holds with up to 1 preemption (all 3 places) where programs that sleep let the others go on, or "+
		"sleep through to their end, unknown beyond; it was stopped", r.Known())
	r.Verdict = Broken
	require.Equal(t, "it was stopped", r.Known())
}

// A bound is told while the clock stands still. Whether time matters is not tried out for it, which takes many
// executions.
func TestBoundLeavesTheClock(t *testing.T) {
	t.Parallel()
	sc := fixtures.New("toy/excl/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 2})
	sc.Late = func(context.Context, bool) (string, error) { return "time matters", nil }
	x, err := search.NewExplorer(sc, scenarios.MutualExclusion)
	require.NoError(t, err)
	defer x.Close()
	c, err := x.Explore(t.Context(), search.Limits{States: 10}, x.Initial)
	require.NoError(t, err)
	g := &decision{
		t: &search.Tester{Sc: sc}, preempted: &search.Preempted{Bound: 1, Places: 3}, space: &space{x: x, c: c},
	}
	_, err = g.confirmBound(t.Context())
	require.NoError(t, err)
	require.Equal(t, &Within{Preemptions: 1, Places: 3, Still: true}, g.within)
}

// A program that counts its attempts has no end of them: what it did is named, and what to change.
func TestPathsOfWhoCounts(t *testing.T) {
	said := pathsOf(fmt.Errorf("%w: %w", learn.ErrCarriesOver,
		&learn.CarriesError{Task: "A", Was: "sleep 1s", Is: "end with status 10"}))
	require.Contains(t, said, `A makes the call "end with status 10" where it made "sleep 1s" before`)
	require.Contains(t, said, "With fewer attempts")
	require.Contains(t, pathsOf(errors.New("it polls")), "a number of attempts, say")
}

// What ends well after all is not shown, and taken back where it took long to find out.
func TestGoodEndIsNotTold(t *testing.T) {
	fixtures.OnlyAnswers(t)
	t.Parallel()
	sc := fixtures.New("toy/excl/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 2})
	good, quickly := false, false
	p := &scenarios.Property{
		ID: "toy", Meaning: "It ends well.",
		Invariant: func(v scenarios.View) string {
			for range v.Holders() {
				if !good {
					return "somebody holds it"
				}
			}
			return ""
		},
		Reconsider: func(_ scenarios.View, quick bool) (bool, error) {
			good = good || quick == quickly
			return good, nil
		},
	}
	var told []Verdict
	o := Options{Found: func(r *Result) {
		if r == nil {
			r = &Result{}
		}
		told = append(told, r.Verdict)
	}}
	for _, quickly = range []bool{true, false} {
		good, told = false, nil
		r, err := Check(t.Context(), sc, p, o)
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict, r.Why)
		require.True(t, good)
		if quickly {
			require.Empty(t, told)
		} else {
			require.Equal(t, []Verdict{Broken, Unknown}, told)
		}
	}
}
