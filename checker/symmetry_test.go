package checker

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// The reduced space is exactly the unreduced one with its renamings put together, and
// says the same.
func TestSymmetryAgainstTheUnreducedGraph(t *testing.T) {
	for _, c := range []struct {
		name     string
		lock     scenarios.Protocol
		property *scenarios.Property
		setting  scenarios.Setting
	}{
		{"stat", toyStatThenWrite(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3}},
		{"stat-foreign", toyStatThenWrite(), scenarios.ForeignRelease, scenarios.Setting{Processes: 3}},
		{"excl", toyExcl(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"excl-wait", toyExclWait(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3}},
		{"excl-wedge", toyExclWait(), scenarios.Wedge, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"flock", toyFlock(), scenarios.MutualExclusion, scenarios.Setting{Processes: 3, Crashes: 1}},
		{"flock-wedge", toyFlock(), scenarios.Wedge, scenarios.Setting{Processes: 4, Crashes: 1}},
		{"flock-deadlock", toyFlock(), scenarios.Deadlock, scenarios.Setting{Processes: 3, Crashes: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.setting.Interchangeable = true
			sc := toy("toy/"+c.name+"/symmetry", c.lock, c.setting, scenarios.Claim{Property: c.property})
			x, err := newExplorer(sc, c.property)
			require.NoError(t, err)
			require.NoError(t, x.symmetric())
			x.reduce = false
			full, err := x.explore(context.Background(), Options{Workers: 1}, x.initial)
			require.NoError(t, err)
			x.reduce = true
			less, err := x.explore(context.Background(), Options{Workers: 1}, x.initial)
			require.NoError(t, err)

			sym := newSymmetry(x)
			orbits := table.NewStates(x.width(), 1)
			for id := range full.states.Len() {
				row := append([]uint32(nil), full.states.Row(id)...)
				sym.canonical(row)
				orbits.Insert(row)
				_, there := less.states.Find(row)
				require.True(t, there, "a state has no representative")
			}
			require.Equal(t, orbits.Len(), less.states.Len())
			require.Less(t, less.states.Len(), full.states.Len())
			t.Logf("%d states, %d up to symmetry", full.states.Len(), less.states.Len())

			a, err := Check(context.Background(), sc, c.property, Options{Workers: 1})
			require.NoError(t, err)
			b, err := Check(context.Background(), sc, c.property, Options{Workers: 2, Symmetry: true})
			require.NoError(t, err)
			require.Equal(t, a.Verdict, b.Verdict)
			require.InDelta(t, a.Odds, b.Odds, 1e-9, "renaming changes no odds")
			if a.Counterexample != nil {
				require.Equal(t, a.Counterexample.Schedule.String(), b.Counterexample.Schedule.String())
			}
		})
	}
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
		"pid":      func(t *scenarios.Task) { t.Work(); _ = t.Getpid(); t.Work() },
		"temp":     func(t *scenarios.Task) { _, _ = t.CreateTemp("/tmp", "x") },
		"kill":     func(t *scenarios.Task) { _ = t.Kill(scenarios.FirstPid) },
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
