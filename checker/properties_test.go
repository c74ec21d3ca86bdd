package checker

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// Every property, ours or a scenario's own, is judged alike by every engine: a toy that
// breaks it is broken, and the schedule breaks it again; one that keeps it holds.
func TestEveryEngineJudgesEveryProperty(t *testing.T) {
	testmain.Slow(t, "it asks every engine about every property", "./checker")
	t.Parallel()
	for _, sc := range toys.Properties() {
		for _, c := range sc.Claims {
			t.Run(sc.ID+"/"+c.Property.ID, func(t *testing.T) {
				r, err := Check(t.Context(), &sc, c.Property, Options{Workers: 2})
				require.NoError(t, err)
				require.Equal(t, c.Verdict, r.Verdict, r.Why)
				require.True(t, r.AsClaimed())
				require.Positive(t, r.Stats.States)
				if c.Verdict == Broken {
					brokenEverywhere(t, &sc, &r)
				}
				if c.Property.OfCycles() {
					return
				}
				fixtures.OneWorker(t)
				ref, err := Check(t.Context(), &sc, c.Property, Options{oracle: reference})
				require.NoError(t, err)
				require.Equal(t, c.Verdict, ref.Verdict, ref.Why)
				if c.Verdict == Broken {
					require.False(t, ref.Counterexample.Cost.Less(r.Counterexample.Cost), "%s is smaller", ref.Counterexample.Schedule)
				}
				s, err := Sample(t.Context(), &sc, c.Property, SampleOptions{Runs: testmain.Many(500, 500, 2000), Seed: 1})
				require.NoError(t, err)
				require.Equal(t, c.Verdict == Broken, s.Verdict == Broken)
			})
		}
	}
}

// Each property of ours has a toy, or a reported system, that breaks it, and one that
// keeps it. One that nobody claims anything of is asked of all of them.
func TestEveryPropertyIsBrokenAndKept(t *testing.T) {
	claimed := map[*scenarios.Property]map[Verdict]bool{}
	list := slices.Concat(toys.Properties(), toys.All(), all.Core())
	for _, sc := range allToys() {
		list = append(list, *sc)
	}
	for _, sc := range list {
		for _, c := range sc.Claims {
			if claimed[c.Property] == nil {
				claimed[c.Property] = map[Verdict]bool{}
			}
			claimed[c.Property][c.Verdict] = true
		}
	}
	for _, p := range scenarios.Properties() {
		for i := range list {
			if claimed[p][Broken] && claimed[p][Holds] {
				break
			}
			verdict := unclaimed(t, &list[i], p)
			if claimed[p] == nil {
				claimed[p] = map[Verdict]bool{}
			}
			claimed[p][verdict] = true
		}
		assert.True(t, claimed[p][Broken], "nothing breaks %s: add a toy to checker/internal/toys/properties.go", p)
		assert.True(t, claimed[p][Holds], "nothing keeps %s: add a toy to checker/internal/toys/properties.go", p)
	}
}

// unclaimed decides a property that a scenario claims nothing of; a scenario that cannot be
// judged by it, or is large, says nothing.
func unclaimed(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) Verdict {
	t.Helper()
	r, err := Check(t.Context(), sc, p, Options{Workers: 1, States: 2_000, SkipOdds: true})
	if err != nil {
		return Unknown
	}
	return r.Verdict
}

// brokenEverywhere replays a counterexample: to its end it breaks the property, and
// nothing shorter does.
func brokenEverywhere(t *testing.T, sc *scenarios.Scenario, r *Result) {
	t.Helper()
	cx := r.Counterexample
	require.NotEmpty(t, cx.Cause)
	got, err := Replay(sc, r.Property, cx.Schedule)
	require.NoError(t, err)
	require.True(t, got.Broken)
	require.Equal(t, cx.Schedule, got.Counterexample.Schedule)
	require.Equal(t, cx.Cause, got.Counterexample.Cause)
	require.Equal(t, cx.Said, got.Counterexample.Said)
	if r.Property.OfCycles() {
		return
	}
	before, err := Replay(sc, r.Property, cx.Schedule[:len(cx.Schedule)-1])
	require.NoError(t, err)
	require.False(t, before.Broken)
}

// The causes of what nobody else claims, and what the invariant or the assertion says.
func TestOwnPropertiesAreTold(t *testing.T) {
	for id, want := range map[string]struct{ schedule, said, cause string }{
		"toy/rw-markers/contend": {"A1 B4 A1", "", "A found no writer at step 1. Then B made the directory writer at step 2. A did not look again and took the lock with mkdir readers/A at step 6."},
		"toy/assert-look/contend": {"A1 B5 A13 B3", "the lock names B, who holds it",
			`B asserts "the lock names B, who holds it" at step 22, and it is not so. A found no lock at step 1. ` +
				"Then B created inode 3 at step 3. A did not look again and opened inode 3 at step 7 as if it had made it: " +
				"without O_EXCL an open takes what is there."},
		"toy/move-link/contend": {"A1", "the job is in /run/todo and in /run/done", "The job is in todo and in done."},
	} {
		sc := fixture(t, id)
		r, err := Check(t.Context(), sc, sc.Claims[0].Property, Options{Workers: 1})
		require.NoError(t, err)
		require.Equal(t, want.schedule, r.Counterexample.Schedule.String())
		require.Equal(t, want.said, r.Counterexample.Said)
		require.Equal(t, want.cause, r.Counterexample.Cause)
	}
}

// fixture is one of the toys with properties of their own.
func fixture(t *testing.T, id string) *scenarios.Scenario {
	t.Helper()
	for _, sc := range toys.Properties() {
		if sc.ID == id {
			return &sc
		}
	}
	require.Fail(t, "no toy "+id)
	return nil
}

// asserting is a scenario whose one process runs a program.
func asserting(p scenarios.Program, claims ...*scenarios.Property) *scenarios.Scenario {
	sc := &scenarios.Scenario{
		ID: "toy/assert/alone", Setting: scenarios.Setting{Processes: 1},
		Program: func(int, int) scenarios.Program { return p },
		Probe:   func(*scenarios.Task) error { return nil },
	}
	for _, p := range claims {
		sc.Claims = append(sc.Claims, scenarios.Claim{Property: p, Verdict: Broken})
	}
	return sc
}

// An assertion before the first call fails with the first call; there must be one.
func TestAssertionsBeforeTheFirstCall(t *testing.T) {
	sc := asserting(func(task *scenarios.Task) {
		task.Assert(false, "never")
		_, _ = task.Stat("/")
		_, _ = task.Stat("/")
	}, scenarios.Assertion)
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), sc, scenarios.Assertion, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Broken, r.Verdict)
		require.Equal(t, "A1", r.Counterexample.Schedule.String())
		require.Equal(t, `A asserts "never" at step 1, and it is not so.`, r.Counterexample.Cause)
	}

	none := asserting(func(task *scenarios.Task) { task.Assert(false, "never") }, scenarios.Assertion)
	_, err := Check(t.Context(), none, scenarios.Assertion, Options{})
	require.ErrorContains(t, err, `fails the assertion "never" and makes no call`)
}

// A program that asserts nothing is no evidence that its assertions hold.
func TestNoAssertionIsNoEvidence(t *testing.T) {
	sc := asserting(func(task *scenarios.Task) { _, _ = task.Stat("/") }, scenarios.Assertion)
	for _, engine := range engines(t) {
		_, err := Check(t.Context(), sc, scenarios.Assertion, Options{oracle: engine})
		require.ErrorIs(t, err, ErrNothingToJudge)
		require.ErrorContains(t, err, "its tasks assert nothing")
	}
	early := asserting(func(task *scenarios.Task) { task.Assert(true, ""); _, _ = task.Stat("/") }, scenarios.Assertion)
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), early, scenarios.Assertion, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict)
	}
}

// An assertion that fails is never overheard: a scenario that claims nothing of its
// assertions gets an error from every engine.
func TestFailedAssertionsAreHeard(t *testing.T) {
	late := func(task *scenarios.Task) { _, _ = task.Stat("/"); task.Assert(false, "never") }
	early := func(task *scenarios.Task) { task.Assert(false, "never"); _, _ = task.Stat("/") }
	for _, p := range []scenarios.Program{late, early} {
		sc := asserting(p, scenarios.Deadlock)
		const want = `task A fails the assertion "never", and the scenario claims nothing of assertions`
		_, err := Check(t.Context(), sc, scenarios.Deadlock, Options{})
		require.ErrorContains(t, err, want)
		_, err = Check(t.Context(), sc, scenarios.Deadlock, Options{oracle: reference})
		require.ErrorContains(t, err, want)
		_, err = Sample(t.Context(), sc, scenarios.Deadlock, SampleOptions{Runs: 1})
		require.ErrorContains(t, err, want)
		r, err := Check(t.Context(), sc, scenarios.Assertion, Options{})
		require.NoError(t, err)
		require.Equal(t, Broken, r.Verdict)

		both := asserting(p, scenarios.Deadlock, scenarios.Assertion)
		for _, engine := range engines(t) {
			r, err := Check(t.Context(), both, scenarios.Deadlock, Options{oracle: engine})
			require.NoError(t, err)
			require.Equal(t, Holds, r.Verdict, "the program goes on after an assertion")
		}
	}
}

// An assertion that fails in a later round of a retry loop only is no function of the
// round: it is reported, not missed.
func TestAssertionsAboutRoundsAreRefused(t *testing.T) {
	sc := asserting(func(task *scenarios.Task) {
		n := 0
		for retry := task.Retry(); retry.Next(); {
			_, _ = task.Stat("/")
			n++
			task.Assert(n < 50, "patience")
		}
	}, scenarios.Assertion)
	_, err := Check(t.Context(), sc, scenarios.Assertion, Options{})
	require.ErrorContains(t, err, `round 50 fails the assertion "patience"`)
}

// A probe says no by its error.
func TestProbesDoNotAssert(t *testing.T) {
	sc := asserting(func(task *scenarios.Task) { _, _ = task.Stat("/") }, scenarios.Wedge)
	sc.Probe = func(task *scenarios.Task) error { _, _ = task.Stat("/"); task.Assert(false, "through"); return nil }
	_, err := Check(t.Context(), sc, scenarios.Wedge, Options{})
	require.ErrorContains(t, err, `the probe of toy/assert/alone fails the assertion "through"`)
}

// An invariant that is violated before anybody has stepped has no schedule.
func TestInvariantsHoldAtFirst(t *testing.T) {
	sc := *fixture(t, "toy/move-link/contend")
	setup := sc.Setup
	sc.Setup = func(m *fsfake.Machine) {
		setup(m)
		require.NoError(t, m.Proc(1).Link("/run/todo/job", "/run/done/job"))
	}
	for _, engine := range engines(t) {
		_, err := Check(t.Context(), &sc, sc.Claims[0].Property, Options{oracle: engine})
		require.ErrorContains(t, err, "one-queue is broken before the first step: the job is in /run/todo and in /run/done")
	}
}

// An invariant that counts is found out.
func TestInvariantsArePure(t *testing.T) {
	sc := *fixture(t, "toy/move-rename/contend")
	for patience := 3; ; patience++ {
		n := 0
		p := &scenarios.Property{ID: "moody", Meaning: "All is well.", Invariant: func(scenarios.View) string {
			if n++; n > patience {
				return "enough"
			}
			return ""
		}}
		_, err := Check(t.Context(), &sc, p, Options{Workers: 1})
		if n <= patience {
			require.Greater(t, patience, 10)
			return
		}
		require.ErrorContains(t, err, `the invariant of moody says "enough" of a state of which it said otherwise before`)
	}
}

// A property that does not say that it treats processes alike is not explored up to
// symmetry.
func TestSymmetryAsksTheProperty(t *testing.T) {
	sc := *fixture(t, "toy/move-link/contend")
	sc.Setting.Interchangeable = true
	p := *sc.Claims[0].Property
	r, err := Check(t.Context(), &sc, &p, Options{Symmetry: true})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	p.Invariant = func(v scenarios.View) string {
		if v.Alive("B") && !v.Alive("A") {
			return "A has left before B"
		}
		return ""
	}
	_, err = Check(t.Context(), &sc, &p, Options{Symmetry: true})
	require.ErrorContains(t, err, "with processes in each other's place: it is not symmetric")
	p.Symmetric = false
	_, err = Check(t.Context(), &sc, &p, Options{Symmetry: true})
	require.ErrorContains(t, err, "the property one-queue may tell processes apart")
}
