package checker

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
	"lockpick/sched"
)

// exclusively is an acquisition by O_EXCL: a try.
func exclusively(t *scenarios.Task, path string) error {
	_, err := t.Acquire(path, func() (scenarios.Hold, error) {
		f, err := t.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
		return scenarios.Hold{File: f}, err
	})
	return err
}

// takers is a scenario in which A takes /x and B takes /y, or each of them both when it has
// got the first. Nobody is in anybody's way in the first, and each lock is one in both.
func takers(both bool, p *scenarios.Property) *scenarios.Scenario {
	sc := fixtures.Programs("toy/two-locks/contend", scenarios.Setting{Processes: 2}, func(process, _ int) scenarios.Program {
		paths := []string{"/x", "/y"}
		if process == 1 {
			paths = []string{"/y", "/x"}
		}
		if !both {
			paths = paths[:1]
		}
		return func(t *scenarios.Task) {
			for _, path := range paths {
				if exclusively(t, path) != nil {
					return
				}
			}
			t.Work()
		}
	}, scenarios.Claim{Property: p, Verdict: Holds})
	sc.Watch = []string{"/x", "/y"}
	return sc
}

// A property of a lock says nothing of two: A holding one and B the other was "both hold the
// lock". Every engine refuses, and names them.
func TestTwoLocksAreNotOne(t *testing.T) {
	all := 100
	for _, both := range []bool{false, true} {
		for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.SpuriousFailure, scenarios.ForeignRelease} {
			sc := takers(both, p)
			want := "checker: toy/two-locks/contend cannot be judged by " + p.ID + ": its tasks ask for 2 locks, /x and /y, and " + p.ID + " is said of one; make a scenario for each, or, where these are names of one lock, give Acquire one path for all (Hold.Path can tell the names)"
			for name, o := range map[string]Options{
				"graph": {}, "monitors": {Memory: RememberMonitors}, "full": {Full: true}, "preemptions": {Preemptions: &all}, "reference": {Engine: Reference},
			} {
				_, err := Check(t.Context(), sc, p, o)
				require.EqualError(t, err, want, "%s, both %t", name, both)
				require.ErrorIs(t, err, ErrNothingToJudge)
			}
			_, err := CheckShard(t.Context(), sc, p, Options{}, Shard{0, 2})
			require.EqualError(t, err, want)
			_, err = Sample(t.Context(), sc, p, SampleOptions{Runs: 10})
			require.EqualError(t, err, want)
			s, err := sched.ParseSchedule("A1 B1")
			require.NoError(t, err)
			_, err = Replay(sc, p, s)
			require.EqualError(t, err, want)
		}
	}
}

// What is not about one lock is decided with two.
func TestTwoLocksAndOtherProperties(t *testing.T) {
	for _, p := range []*scenarios.Property{scenarios.Deadlock, scenarios.Starvation} {
		r, err := Check(t.Context(), takers(true, p), p, Options{})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict)
	}
	for _, sc := range toys.All() {
		if sc.ID != "toy/abba/contend" {
			continue
		}
		r, err := Check(t.Context(), &sc, scenarios.Deadlock, Options{})
		require.NoError(t, err)
		require.Equal(t, Broken, r.Verdict)
		return
	}
	t.Fatal("no toy/abba/contend")
}

// Two files that are one lock have one path in Acquire: that A and B take different ones is a
// violation, as it is of cargo's two names.
func TestTwoNamesOfOneLock(t *testing.T) {
	sc := takers(false, scenarios.MutualExclusion)
	sc.Program = func(process, _ int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Acquire("/x", func() (scenarios.Hold, error) {
				f, err := t.OpenFile([]string{"/x", "/y"}[process], os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
				return scenarios.Hold{File: f}, err
			})
		}
	}
	r, err := Check(t.Context(), sc, scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
}
