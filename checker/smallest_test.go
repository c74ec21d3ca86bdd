package checker

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/history"
	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/internal/golden"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// The smallest counterexample of every broken row, for people to read.
func TestSmallestCounterexamples(t *testing.T) {
	testmain.Slow(t, "it searches for the smallest counterexample of every broken row", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	var b bytes.Buffer
	many := 1000 // preemptions: a search in the order of cost, which stops at the first
	for _, sc := range all.Core() {
		for _, c := range sc.Claims {
			if c.Verdict != Broken {
				continue
			}
			r, err := Check(context.Background(), &sc, c.Property, Options{Preemptions: &many, Tried: tried(&sc)})
			require.NoError(t, err)
			require.Equal(t, c.Verdict, r.Verdict, "%s %s: %s", sc.ID, c.Property, r.Why)
			ce := r.Counterexample
			// Traps are not asked with few preemptions, and one may be on a shorter way.
			require.NotEqual(t, c.Property.NeedsProbe(), ce.Smallest, "%s %s", sc.ID, c.Property)
			replayed, err := Replay(&sc, c.Property, ce.Schedule)
			require.NoError(t, err)
			require.True(t, replayed.Broken)
			require.Equal(t, ce.Schedule, replayed.Counterexample.Schedule)
			fmt.Fprintf(&b, "%s %s\n  %s\n  %d crashes, %d stalls, %d preemptions, %d steps\n", sc.ID, c.Property, ce.Schedule,
				ce.Cost.Crashes, ce.Cost.Stalls, ce.Cost.Preemptions, ce.Cost.Steps)
			for _, w := range ce.Waits {
				fmt.Fprintf(&b, "  %s\n", w)
			}
			if c.Property.Judgement() == scenarios.ByHistory {
				spec := c.Property.Spec
				for _, op := range history.Only(spec, ce.History) {
					fmt.Fprintf(&b, "    %v -> %v\n", op.Input, op.Output)
				}
			}
		}
	}
	golden.Check(t, "smallest.golden", b.String())
}

// Nothing that holds is vacuous: somebody met the lock.
func TestNoVacuousHolds(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	for _, sc := range fixtures.Rows() {
		for _, c := range sc.Claims {
			if c.Verdict != Holds {
				continue
			}
			var r Result
			if largeRows[sc.ID] { // whoever meets it with two processes meets it with three
				var err error
				sc = small(sc, mutator{})
				r, err = Check(context.Background(), &sc, c.Property, Options{SkipOdds: true, Workers: 1, Tried: tried(&sc)})
				require.NoError(t, err)
			} else {
				r = decided(t, &sc, c.Property)
			}
			require.Equal(t, Holds, r.Verdict, "%s %s: %s", sc.ID, c.Property, r.Why)
			require.NotZero(t, r.Stats.Contended, "%s %s holds, but nobody ever met the lock", sc.ID, c.Property)
		}
	}
}

// Nothing smaller than the smallest: by brute force over all schedules of the toys that cost no more.
func TestNothingIsSmallerThanTheSmallest(t *testing.T) {
	testmain.Slow(t, "it tries every smaller schedule", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	most, tried := testmain.Many(500, 2000, math.MaxInt), 0
	for _, sc := range allToys() {
	claims:
		for _, c := range sc.Claims {
			if c.Verdict != Broken || c.Property == scenarios.Starvation {
				continue
			}
			r := decided(t, sc, c.Property)
			tr, err := search.NewTester(sc, c.Property)
			require.NoError(t, err)
			tr.Live = true
			var best *search.Outcome
			d := &cheap{most: r.Counterexample.Cost}
			for runs := 1; ; runs++ {
				if runs > most {
					continue claims
				}
				d.costs = d.costs[:0]
				o, err := tr.Run(d, false)
				require.NoError(t, err)
				if o.Broken && (best == nil || o.Cost.Less(best.Cost) || !best.Cost.Less(o.Cost) && firstInOrder(o.Schedule, best.Schedule)) {
					best = &o
				}
				if !d.Advance() {
					break
				}
			}
			tried++
			require.NotNil(t, best, "%s %s: nothing of the cost of %s", sc.ID, c.Property, r.Counterexample.Schedule)
			require.Equal(t, best.Cost, r.Counterexample.Cost, "%s %s: %s and %s", sc.ID, c.Property, best.Schedule, r.Counterexample.Schedule)
			require.Equal(t, best.Schedule.String(), r.Counterexample.Schedule.String(), "%s %s", sc.ID, c.Property)
		}
	}
	require.Greater(t, tried, 10)
}

// A cheap search ends every run that costs more than most. It counts as preemptions only what can be
// nothing else: what a schedule costs is at least what it counts.
type cheap struct {
	sched.DepthFirst
	most  trace.Cost
	costs []trace.Cost // of the choices up to each step
}

func (d *cheap) Next(v *sched.View) (sched.Choice, error) {
	c, err := d.DepthFirst.Next(v)
	if err != nil {
		return c, err
	}
	var cost trace.Cost
	if n := len(d.costs); n > 0 {
		cost = d.costs[n-1]
	}
	preempts := false
	if v.Last >= 0 {
		last := &v.Tasks[v.Last]
		preempts = last.Task != c.Task && last.Enabled && !last.Asleep && !last.Idle
	}
	cost.Add(c, preempts)
	if d.most.Less(cost) {
		return c, sched.ErrEnd
	}
	d.costs = append(d.costs, cost)
	return c, nil
}

// firstInOrder reports whether a comes before b in the order of choices.
func firstInOrder(a, b sched.Schedule) bool {
	for i := range a {
		if c := search.CompareChoices(a[i], b[i]); c != 0 {
			return c < 0
		}
	}
	return false
}
