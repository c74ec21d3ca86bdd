package checker

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/model"
	"lockpick/scenarios"
)

// The reduced space is exactly the unreduced one with its renamings put together, and
// says the same.
func TestSymmetryAgainstTheUnreducedGraph(t *testing.T) {
	testmain.Slow(t, "it covers spaces with and without symmetry", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	for _, c := range []struct {
		name     string
		lock     scenarios.Protocol
		property *scenarios.Property
		setting  scenarios.Setting
	}{
		{"stat", fixtures.StatThenWrite(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3}},
		{"stat-foreign", fixtures.StatThenWrite(), scenarios.ForeignRelease, scenarios.Setting{Processes: 3}},
		{"excl", fixtures.Excl(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"excl-wait", fixtures.ExclWait(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3}},
		{"excl-wedge", fixtures.ExclWait(), scenarios.Wedge, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"flock", fixtures.Flock(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"flock-wedge", fixtures.Flock(), scenarios.Wedge, scenarios.Setting{Processes: 4, Crashes: 1}},
		{"flock-deadlock", fixtures.Flock(), scenarios.Deadlock, scenarios.Setting{Processes: 3, Crashes: 2}},
		{"stat-monitors", fixtures.StatThenWrite(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"excl-monitors", fixtures.Excl(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3, Crashes: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			monitors := strings.HasSuffix(c.name, "monitors")
			c.setting.Interchangeable = true
			sc := fixtures.New("toy/"+c.name+"/symmetry", c.lock, c.setting, scenarios.Claim{Property: c.property})
			x, err := search.NewExplorer(sc, c.property)
			require.NoError(t, err)
			require.NoError(t, x.Symmetric())
			if monitors {
				x.RememberMonitors()
			}
			x.Reduce = false
			full, err := x.Explore(context.Background(), search.Limits{Workers: 1}, x.Initial)
			require.NoError(t, err)
			x.Reduce = true
			less, err := x.Explore(context.Background(), search.Limits{Workers: 1}, x.Initial)
			require.NoError(t, err)

			areOrbits(t, x, full, less)
			require.Less(t, less.States.Len(), full.States.Len())
			t.Logf("%d states, %d up to symmetry", full.States.Len(), less.States.Len())

			saysTheSame(t, sc, c.property)
		})
	}
}

// areOrbits compares a space with what is left of it up to symmetry.
func areOrbits(t *testing.T, x *search.Explorer, full, less *search.Coverage) {
	sym := engine.NewSymmetry(x.Space)
	orbits := table.NewStates(x.Width(), 1)
	for id := range full.States.Len() {
		row := full.States.Row(id, nil)
		sym.Canonical(row)
		orbits.Insert(row)
		_, there := less.States.Find(row)
		require.True(t, there, "a state has no representative")
	}
	require.Equal(t, orbits.Len(), less.States.Len())
	require.Equal(t, full.Violations > 0, less.Violations > 0)
}

// saysTheSame compares what is said of a scenario with and without symmetry.
func saysTheSame(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) Verdict {
	a, err := Check(context.Background(), sc, p, Options{Workers: 1})
	require.NoError(t, err)
	for _, o := range []Options{
		{Workers: 2, Symmetry: true}, {Workers: 2, Symmetry: true, Memory: RememberMonitors},
		{Workers: 1, changes: changes{monitors: 50}},
	} {
		b, err := Check(context.Background(), sc, p, o)
		require.NoError(t, err)
		if a.Verdict == Holds && a.Stats.States > 500 {
			require.Equal(t, p.Symmetric, b.Stats.Symmetry, "where it is declared it is the default for what is not small")
			require.Less(t, b.Stats.States, a.Stats.States)
		}
		require.Equal(t, a.Verdict, b.Verdict)
		if a.Odds >= 0 { // the whole space is not too large for them
			require.InDelta(t, a.Odds, b.Odds, 1e-9, "renaming changes no odds")
		}
		if a.Counterexample != nil {
			require.Equal(t, a.Counterexample.Schedule.String(), b.Counterexample.Schedule.String())
		}
	}
	return a.Verdict
}

func TestSymmetryIsVerified(t *testing.T) {
	program := func(f func(t *scenarios.Task)) *scenarios.Scenario {
		return &scenarios.Scenario{
			ID: "toy/unlike/contend", Setting: scenarios.Setting{Processes: 2, Interchangeable: true},
			Program: func(int, int) scenarios.Program { return f },
			Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion}},
		}
	}
	for name, f := range map[string]func(t *scenarios.Task){
		"kill":     func(t *scenarios.Task) { _ = t.Kill(scenarios.Pid(0)) },
		"index":    func(t *scenarios.Task) { t.Work(); _ = t.Unlink(fmt.Sprint("/x", t.Index)) },
		"one ends": func(t *scenarios.Task) { t.Work(); _ = t.Index > 0 || t.Unlink("/x") == nil },
		"operation": func(t *scenarios.Task) {
			scenarios.Record(t, model.Add{Key: fmt.Sprint(t.Index)}, func() model.Added { t.Work(); return model.Added{} })
		},
		"record lock": func(t *scenarios.Task) {
			f, _ := t.OpenFile("/x", os.O_CREATE|os.O_RDWR, 0o644)
			_ = f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false)
		},
	} {
		_, err := Check(context.Background(), program(f), scenarios.MutualExclusion, Options{Symmetry: true})
		require.ErrorContains(t, err, "interchangeable", name)
	}
	sc := program(func(t *scenarios.Task) { t.Work() })
	sc.Setting.Interchangeable = false
	_, err := Check(context.Background(), sc, scenarios.MutualExclusion, Options{Symmetry: true})
	require.ErrorContains(t, err, "does not declare")
}
