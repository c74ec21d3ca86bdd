package search

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// remembers is a protocol that looks at the lock in each of so many rounds, and then creates it
// with O_EXCL, unless it saw one in a certain round: then it does so without, but only when it
// sees none in the last round. So what was read in one round decides many calls later.
func remembers(rounds, round int) *scenarios.Scenario {
	return fixtures.New("toy/remembers/contend", scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			saw := false
			for i := range rounds {
				_, err := t.Stat(fixtures.Lock)
				if i == round {
					saw = err == nil
				}
			}
			flags := os.O_CREATE | os.O_WRONLY
			if !saw {
				flags |= os.O_EXCL
			}
			return create(t, flags)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}, scenarios.Setting{Processes: 3})
}

// create makes the lock, with O_EXCL or without.
func create(t *scenarios.Task, flags int) (scenarios.Hold, error) {
	f, err := t.OpenFile(fixtures.Lock, flags, 0o644)
	if err != nil {
		return scenarios.Hold{}, err
	}
	return scenarios.Hold{}, f.Close()
}

// compares is a protocol that looks at the lock, then so many times at something else, and at the lock again.
// It then creates the lock with O_EXCL, or without if that is the file that it saw first, or is
// another one. So the number of the file that it saw first is needed many calls later.
func compares(looks int, breaks bool) *scenarios.Scenario {
	return fixtures.New("toy/compares/contend", scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			first, err := t.Stat(fixtures.Lock)
			var other fs.FileInfo
			for range looks {
				other, _ = t.Stat("/run")
			}
			flags := os.O_CREATE | os.O_WRONLY | os.O_EXCL
			last, lastErr := t.Stat(fixtures.Lock)
			if err == nil && lastErr == nil && !fsfake.SameFile(other, last) && fsfake.SameFile(first, last) == breaks {
				flags &^= os.O_EXCL
			}
			return create(t, flags)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}, scenarios.Setting{Processes: 3})
}

// What a program read in an early round may decide in a late one. To take the rounds for one before
// that was seen is a guess that says "holds" of a lock that is broken, and so is to forget the number of a file
// before it was compared; so whatever the guess was,
// the verification must notice it, in each of its ways alone.
func TestMergingIsVerified(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	believed := map[string]int{}
	for name, sc := range map[string]*scenarios.Scenario{
		"read in the first round": remembers(7, 0), "read in round 4": remembers(7, 4), "read in the last round": remembers(7, 6),
		"another file": compares(7, false), "the same file": compares(7, true),
	} {
		for _, runs := range []int{defaultRuns, -1} { // by closing the table; one task after the other
			x, err := NewExplorer(sc, scenarios.MutualExclusion)
			require.NoError(t, err)
			x.RememberMonitors()
			c, how := x.ExploreMerged(t.Context(), Limits{Runs: runs})
			require.Equal(t, Unmerged, how, name)
			require.Nil(t, c)

			y, err := NewExplorer(sc, scenarios.MutualExclusion)
			require.NoError(t, err)
			y.RememberMonitors()
			if guessed(t, y).Violations > 0 {
				continue
			}
			believed[name]++
			_, err = y.Unfolded(t.Context(), runs, func() error { return y.unfold(t.Context(), Limits{Workers: 1}) })
			require.ErrorIs(t, err, learn.ErrMerged, "%s, %d runs", name, runs)
		}
	}
	t.Log(believed)
	require.Greater(t, len(believed), 3, "no guess was wrong, so nothing was to be noticed")
}

// guessed covers a space with automata that are merged anew whenever something was learned, and
// believed.
func guessed(t *testing.T, x *Explorer) *Coverage {
	for states := mergedFirst; ; states *= 2 {
		_, err := x.Merge()
		require.NoError(t, err)
		edges := x.Learned().Edges
		c, _, _, err := x.cover(t.Context(), Limits{Workers: 1, States: states}, x.Initial)
		require.NoError(t, err)
		if c.Violations > 0 || c.Why == "" && x.Learned().Edges == edges {
			return c
		}
	}
}

// The same of processes that are taken for each other, which can be verified in one way only.
func TestMergingUpToSymmetryIsVerified(t *testing.T) {
	t.Parallel()
	explorer := func() *Explorer {
		sc := remembers(7, 0)
		sc.Setting.Interchangeable = true
		x, err := NewExplorer(sc, scenarios.MutualExclusion)
		require.NoError(t, err)
		require.NoError(t, x.Symmetric())
		x.RememberMonitors()
		return x
	}
	_, how := explorer().ExploreMerged(t.Context(), Limits{})
	require.Equal(t, Unmerged, how)

	x := explorer()
	for range 2 { // a guess from a part of the space
		_, err := x.Merge()
		require.NoError(t, err)
		_, _, _, err = x.cover(t.Context(), Limits{Workers: 1, States: mergedFirst}, x.Initial)
		require.NoError(t, err)
	}
	_, err := x.Unfolded(t.Context(), defaultRuns, nil)
	require.ErrorIs(t, err, learn.ErrMerged)
}

// Merging and symmetry come together: a protocol with bounded polling has 1 099 states, of 6 239
// that differ in who is who, too, and of 33 065 that remember all past attempts. So do two that write pids down. Where closing the table takes too
// many runs, nothing is merged.
func TestMergedUpToSymmetry(t *testing.T) {
	testmain.Slow(t, "it explores many sizes", "./checker/internal/search")
	fixtures.OneWorker(t)
	t.Parallel()
	for _, s := range fixtures.Sizes() {
		want := map[string]int{"flopen, 3 polls, 2 opens": 1099, "hg, 2 rounds": 655, "agentwire, no bound": 1059}[s.Name]
		if want == 0 || s.Processes != 3 {
			continue
		}
		for _, runs := range []int{0, -1} {
			x, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
			require.NoError(t, err)
			if s.Alike {
				require.NoError(t, x.Symmetric())
			} else {
				require.NoError(t, x.SymmetricWithPids())
			}
			c, how := x.ExploreMerged(t.Context(), Limits{Runs: runs})
			require.Equal(t, []Merging{Closed, Unmerged}[-runs], how)
			if how == Closed {
				require.True(t, c.Complete)
				require.Equal(t, want, c.States.Len())
			}
		}
	}
}

// A protocol whose attempts are bounded needs about as many states as SPIN counts, which are 3 576 and 4 324, and not
// the 18 974 and 33 065 that remember all past attempts.
func TestMergedSizes(t *testing.T) {
	testmain.Slow(t, "it explores many sizes", "./checker/internal/search")
	fixtures.OneWorker(t)
	t.Parallel()
	want := map[string][2]int{"hg, 2 rounds": {3576, 3576}, "flopen, 3 polls, 2 opens": {6239, 6239}}
	for _, s := range fixtures.Sizes() {
		if want[s.Name][0] == 0 || s.Processes > 3 {
			continue
		}
		for _, runs := range []int{0, -1} {
			x, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
			require.NoError(t, err)
			c, how := x.ExploreMerged(t.Context(), Limits{Runs: runs})
			require.Equal(t, []Merging{Closed, Unfolded}[-runs], how, s.Name)
			require.True(t, c.Complete)
			require.Equal(t, want[s.Name][-runs], c.States.Len(), "%s, %s", s.Name, how)
		}
	}
}
