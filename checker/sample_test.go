package checker

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

func toyRace() *scenarios.Scenario {
	return fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2},
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: Broken})
}

func TestSampleFindsTheToyRace(t *testing.T) {
	sc := toyRace()
	for _, strategy := range []string{"", "random", "pct"} {
		s, err := Sample(t.Context(), sc, scenarios.MutualExclusion, SampleOptions{Strategy: strategy, Seed: 1})
		require.NoError(t, err)
		require.Equal(t, Broken, s.Verdict)
		require.Equal(t, s.First+1, s.Runs, "it stops at the first failure")
		require.Equal(t, 1, s.Failures)
		require.Equal(t, trace.Cost{Preemptions: 2, Steps: 8}, s.Counterexample.Cost, "%s", s.Counterexample.Schedule)
		r, err := Replay(sc, scenarios.MutualExclusion, s.Counterexample.Schedule)
		require.NoError(t, err)
		require.True(t, r.Broken)

		same, err := Sample(t.Context(), sc, scenarios.MutualExclusion, SampleOptions{Strategy: strategy, Seed: 1})
		require.NoError(t, err)
		require.Equal(t, s, same, "one seed, one sample")
	}
}

func TestSampleCounts(t *testing.T) {
	s, err := Sample(t.Context(), toyRace(), scenarios.MutualExclusion, SampleOptions{Runs: 1000, KeepGoing: true})
	require.NoError(t, err)
	require.Equal(t, 1000, s.Runs)
	require.Greater(t, s.Failures, 100)
	require.Less(t, s.Failures, 900)
}

// A sample that finds nothing has shown nothing.
func TestSampleNeverHolds(t *testing.T) {
	sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	s, err := Sample(t.Context(), sc, scenarios.MutualExclusion, SampleOptions{Runs: 100})
	require.NoError(t, err)
	require.Equal(t, Unknown, s.Verdict)
	require.Equal(t, -1, s.First)
	require.Contains(t, s.Why, "100 drawn schedules broke nothing, which proves nothing")

	done, cancel := context.WithCancel(t.Context())
	cancel()
	s, err = Sample(done, sc, scenarios.MutualExclusion, SampleOptions{})
	require.NoError(t, err)
	require.Equal(t, Unknown, s.Verdict)
	require.Equal(t, "stopped after 0 runs", s.Why)
}

// Where tasks look at inode numbers or file times, a sample says in which case it drew.
func TestSampleSaysInWhichCaseItDrew(t *testing.T) {
	look := scenarios.Protocol{Path: "/lock", Acquire: byNumber,
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink("/lock") }}
	sc := fixtures.New("toy/number/contend", look, scenarios.Setting{Processes: 2})
	sc.Setup = func(m *fsfake.Machine) { _ = m.Proc(1).WriteFile("/lock", []byte("dead"), 0o666) }
	s, err := Sample(t.Context(), sc, scenarios.MutualExclusion, SampleOptions{Runs: 20})
	require.NoError(t, err)
	require.Contains(t, s.Elsewhere(), "drawn only where inode numbers never come back")
	require.Contains(t, s.Elsewhere(), "--assume inodes-reused draws elsewhere")
	if s.Verdict == Unknown {
		require.Contains(t, s.Why, s.Elsewhere())
	}
	in := sc.Setting
	in.Assume.Inodes = scenarios.InodesReused
	reused, err := sc.In(in)
	require.NoError(t, err)
	s, err = Sample(t.Context(), &reused, scenarios.MutualExclusion, SampleOptions{Runs: 20})
	require.NoError(t, err)
	require.Empty(t, s.Elsewhere())
}

func TestSampleErrors(t *testing.T) {
	for want, o := range map[string]SampleOptions{
		`unknown strategy "best": choose random or pct`: {Strategy: "best"},
		"choose 1 or more, or 0 for the default":        {Runs: -1},
	} {
		_, err := Sample(t.Context(), toyRace(), scenarios.MutualExclusion, o)
		require.ErrorContains(t, err, want)
	}
	_, err := Sample(t.Context(), toyRace(), &scenarios.Property{ID: "no-meaning"}, SampleOptions{})
	require.ErrorContains(t, err, "Meaning is missing")
}

// Shrinking never makes a schedule larger, and what it returns still breaks the
// property; shrinking that again changes nothing.
func TestShrinkNeverEnlarges(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	for _, sc := range fixtures.Rows() {
		p := sc.Claims[0].Property
		if sc.Claims[0].Verdict != Broken || p == scenarios.Starvation {
			continue
		}
		ts, err := search.NewTester(&sc, p)
		require.NoError(t, err)
		shrunk := 0
		for seed := uint64(0); seed < 2000 && shrunk < 3; seed++ {
			o, err := ts.Run(sched.NewRandom(seed), false)
			require.NoError(t, err)
			if !o.Broken {
				continue
			}
			shrunk++
			small, err := ts.Shrink(o)
			require.NoError(t, err)
			require.False(t, o.Cost.Less(small.Cost), "%s: %s became %s", sc.ID, o.Schedule, small.Schedule)
			ce, err := ts.Counterexample(small.Schedule)
			require.NoError(t, err)
			require.Equal(t, small.Cost, ce.Cost, "%s", sc.ID)
			again, err := ts.Shrink(small)
			require.NoError(t, err)
			require.Equal(t, small.Schedule, again.Schedule, sc.ID)
		}
	}
}

func TestRunner(t *testing.T) {
	r, err := NewRunner(toyRace(), scenarios.MutualExclusion)
	require.NoError(t, err)
	ran, err := r.Run(sched.RunToCompletion{}, false)
	require.NoError(t, err)
	require.True(t, ran.Finished)
	require.False(t, ran.Broken)
	require.Nil(t, ran.Trace)

	ran, err = r.Run(sched.Replay{Schedule: fixtures.Parse(t, "B1 A4 B3")}, true)
	require.NoError(t, err)
	require.True(t, ran.Broken)
	require.Len(t, ran.Trace, len(ran.Schedule))

	small, err := r.Shrink(fixtures.Parse(t, "A1 B1 A1 B1 A1 B2 A1"))
	require.NoError(t, err)
	require.Len(t, small, 8)
	_, err = r.Shrink(fixtures.Parse(t, "A6"))
	require.ErrorContains(t, err, `schedule "A6" does not break mutual-exclusion`)
	_, err = r.Shrink(fixtures.Parse(t, "A60"))
	require.ErrorContains(t, err, "cannot happen")
	_, err = NewRunner(toyRace(), &scenarios.Property{ID: "no-meaning"})
	require.Error(t, err)
}
