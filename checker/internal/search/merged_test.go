package search

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
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
			f, err := t.OpenFile(fixtures.Lock, flags, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{}, f.Close()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}, scenarios.Setting{Processes: 3})
}

// What a program read in an early round may decide in a late one. To take the rounds for one before
// that was seen is a guess that says "holds" of a lock that is broken; so whatever the guess was,
// the verification must notice it, in each of its ways alone.
func TestMergingIsVerified(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	believed := 0
	for _, round := range []int{0, 4, 6} {
		for _, runs := range []int{defaultRuns, -1} { // by closing the table; one task after the other
			sc := remembers(7, round)
			x, err := NewExplorer(sc, scenarios.MutualExclusion)
			require.NoError(t, err)
			x.RememberMonitors()
			c, how := x.ExploreMerged(t.Context(), Limits{Runs: runs})
			require.Equal(t, Unmerged, how, "round %d", round)
			require.Nil(t, c)

			y, err := NewExplorer(sc, scenarios.MutualExclusion)
			require.NoError(t, err)
			y.RememberMonitors()
			if guessed(t, y).Violations > 0 {
				continue
			}
			believed++
			_, err = y.Unfolded(t.Context(), runs, func() error { return y.unfold(t.Context(), Limits{Workers: 1}) })
			require.ErrorIs(t, err, learn.ErrMerged, "round %d, %d runs", round, runs)
		}
	}
	require.Positive(t, believed, "no guess was wrong, so nothing was to be noticed")
}

// guessed covers a space with automata that are merged anew whenever something was learned, and
// believed.
func guessed(t *testing.T, x *Explorer) *Coverage {
	for states := mergedFirst; ; states *= 2 {
		x.Merge()
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
		x.Merge()
		_, _, _, err := x.cover(t.Context(), Limits{Workers: 1, States: mergedFirst}, x.Initial)
		require.NoError(t, err)
	}
	_, err := x.Unfolded(t.Context(), defaultRuns, nil)
	require.ErrorIs(t, err, learn.ErrMerged)
}

// Merging and symmetry come together: a protocol with bounded polling has 1 099 states, of 6 239
// that differ in who is who, too, and of 33 065 that remember all past attempts. Where closing the table takes too
// many runs, nothing is merged.
func TestMergedUpToSymmetry(t *testing.T) {
	t.Parallel()
	for _, s := range fixtures.Sizes() {
		if s.Name != "flopen, 3 polls, 2 opens" || s.Processes != 3 {
			continue
		}
		for _, runs := range []int{0, -1} {
			x, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
			require.NoError(t, err)
			require.NoError(t, x.Symmetric())
			c, how := x.ExploreMerged(t.Context(), Limits{Runs: runs})
			require.Equal(t, []Merging{Closed, Unmerged}[-runs], how)
			if how == Closed {
				require.True(t, c.Complete)
				require.Equal(t, 1099, c.States.Len())
			}
		}
	}
}

// A protocol whose attempts are bounded needs as many states as SPIN counts, whichever way the
// merging is verified, and not the 18 974 that remember all past attempts.
func TestMergedSizes(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	want := map[string]int{"hg, 2 rounds": 3576}
	for _, s := range fixtures.Sizes() {
		if want[s.Name] == 0 || s.Processes > 3 {
			continue
		}
		for _, runs := range []int{0, -1} {
			x, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
			require.NoError(t, err)
			c, how := x.ExploreMerged(t.Context(), Limits{Runs: runs})
			require.Equal(t, []Merging{Closed, Unfolded}[-runs], how, s.Name)
			require.True(t, c.Complete)
			require.Equal(t, want[s.Name], c.States.Len(), "%s, %s", s.Name, how)
		}
	}
}
