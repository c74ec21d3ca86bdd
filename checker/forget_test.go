package checker

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// A whole is what a space says of a property.
type whole struct {
	states   int
	complete bool
	broken   bool
	schedule string
	odds     float64
}

// cover explores a space of at most so many states, with inode numbers kept or forgotten. Whether
// the programs keep their promises is not asked: TestEveryRow of internal/reference asks it of every
// row, TestEnginesAgreeOnToys of the toys.
func cover(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, keep bool, states int) whole {
	t.Helper()
	x, err := search.NewExplorer(sc, p)
	require.NoError(t, err)
	defer x.Close()
	x.KeepNumbers = x.KeepNumbers || keep
	x.Believes = true
	limits := search.Limits{States: states, Workers: 1}
	c, err := x.Explore(t.Context(), limits, x.Initial)
	require.NoError(t, err)
	w := whole{states: c.States.Len(), complete: c.Complete, broken: c.Violations > 0}
	var schedule sched.Schedule
	switch {
	case !c.Complete:
		return w
	case p.OfCycles():
		found, err := x.FindStarvation(t.Context(), c, limits)
		require.NoError(t, err)
		if w.broken = found != nil; w.broken {
			schedule = found.Schedule
		}
	case w.broken:
		schedule, err = x.FindSmallest(t.Context(), &search.Target{Monitors: true})
		require.NoError(t, err)
		odds, err := x.Odds(t.Context(), c, limits)
		require.NoError(t, err)
		require.True(t, odds.Converged())
		w.odds = odds.Value()
	}
	w.schedule = schedule.String()
	return w
}

// To forget inode numbers that nobody will use changes neither verdicts nor schedules nor odds,
// in the rows of every system, in the corpus and in toys, and it makes no space larger.
func TestForgettingChangesNothing(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	most := testmain.Many(1000, 1500, 20_000)
	rows := all.All()
	if testing.Short() {
		rows = fixtures.Rows()
	}
	for _, sc := range allToys() {
		rows = append(rows, *sc)
	}
	fewer := 0
	for i := range rows {
		sc := &rows[i]
		asked := []*scenarios.Property{scenarios.Deadlock}
		for _, c := range sc.Claims {
			asked = append(asked, c.Property)
		}
		for _, p := range asked {
			want := cover(t, sc, p, true, most)
			if !want.complete {
				continue
			}
			got := cover(t, sc, p, false, most)
			require.LessOrEqual(t, got.states, want.states, "%s %s", sc.ID, p)
			require.InEpsilon(t, 1+want.odds, 1+got.odds, 1e-9, "%s %s", sc.ID, p)
			if got.states < want.states {
				fewer++
			}
			want.states, want.odds = got.states, got.odds
			require.Equal(t, want, got, "%s %s", sc.ID, p)
		}
	}
	if !testing.Short() { // some rows only
		require.Greater(t, fewer, 5, "nothing was forgotten")
	}
}

// A lock file that is opened, locked and looked at in every round is what forgetting is for, and
// a row in which every round makes a file has an end only with it.
func TestForgettingIsWorthIt(t *testing.T) {
	testmain.OnlyLong(t, "it covers spaces of some hundred thousand states", "./checker")
	t.Parallel()
	for _, sc := range all.All() {
		switch sc.ID {
		case "freebsd-pidfile/flopen/contend":
			four, err := sc.WithProcesses(4)
			require.NoError(t, err)
			kept, forgotten := cover(t, &four, scenarios.Deadlock, true, 1_000_000), cover(t, &four, scenarios.Deadlock, false, 1_000_000)
			require.Equal(t, []int{228_111, 49_937}, []int{kept.states, forgotten.states})
		case "nightlyone-lockfile/own-pid-is-stale/tasks":
			kept, forgotten := cover(t, &sc, scenarios.MutualExclusion, true, 100_000), cover(t, &sc, scenarios.MutualExclusion, false, 100_000)
			require.False(t, kept.complete)
			require.True(t, forgotten.complete)
			require.Equal(t, 6618, forgotten.states)
		}
	}
}

// remakes is a scenario of a process that goes round and makes the lock anew in each round, until
// what it looks at is enough. begin is called before the first round.
func remakes(id string, begin func() func(t *scenarios.Task, info fs.FileInfo) (enough bool)) *scenarios.Scenario {
	return fixtures.New(id, scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			enough := begin()
			for retry := t.Retry(); retry.Next(); {
				if err := t.WriteFile(fixtures.Lock, nil, 0o644); err != nil {
					return scenarios.Hold{}, err
				}
				if info, err := t.Stat(fixtures.Lock); err == nil && enough(t, info) {
					return scenarios.Hold{}, nil
				}
				_ = t.Remove(fixtures.Lock)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Remove(fixtures.Lock) },
	}, scenarios.Setting{Processes: 1}, scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Broken})
}

// A program that keeps a file's number from one round to the next breaks the promise that allows
// to forget it. This one goes on in the same way as long as the numbers are the same.
func TestNumbersCarriedOverAreNoticed(t *testing.T) {
	sc := remakes("toy/remakes/carried", func() func(*scenarios.Task, fs.FileInfo) bool {
		var last fs.FileInfo
		return func(_ *scenarios.Task, info fs.FileInfo) bool {
			other := last != nil && !fsfake.SameFile(info, last)
			last = info
			return other
		}
	})
	_, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.ErrorContains(t, err, "carries something over")
}

// A program that writes a number down can meet it again in a later round: nothing is forgotten
// from then on. With the number forgotten, every file that a later round makes would be taken for
// the one that the note speaks of.
func TestNumbersWrittenDownAreKept(t *testing.T) {
	fixtures.OnlyAnswers(t)
	const note = "/run/note"
	sc := remakes("toy/remakes/written", func() func(*scenarios.Task, fs.FileInfo) bool {
		return func(t *scenarios.Task, info fs.FileInfo) bool {
			number := fmt.Sprint(info.Sys().(*fsfake.Stat).Ino)
			text, err := t.ReadFile(note)
			if err != nil {
				_ = t.WriteFile(note, []byte(number), 0o644)
			}
			return err == nil && string(text) == number
		}
	})
	kept, forgotten := cover(t, sc, scenarios.Deadlock, true, 1000), cover(t, sc, scenarios.Deadlock, false, 1000)
	kept.states, forgotten.states = 0, 0
	require.Equal(t, kept, forgotten)
	require.False(t, kept.complete, "each round makes a file, and all are remembered")
}
