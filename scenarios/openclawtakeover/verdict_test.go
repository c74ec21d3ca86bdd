package openclawtakeover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/openclawtakeover"
	"lockpick/sched"
)

// The races as the reports tell them, step by step.
func TestTheReportedRaces(t *testing.T) {
	for _, c := range []struct {
		id       string
		property scenarios.Property
		schedule string
	}{

		// Both judge the lock stale; A removes it and creates its own; B removes that.
		{"openclaw-takeover/rm-then-create/dead-owner", scenarios.MutualExclusion, "B5 A8 B3"},
		// B looks at the file that A has just created.
		{"openclaw-takeover/empty-is-stale/contend", scenarios.MutualExclusion, "A1 B7 A1"},
		// Both judge the lock stale; B renames its own onto it; A does the same.
		{"openclaw-takeover/rename/dead-owner", scenarios.MutualExclusion, "A5 B10 A5"},
		{"openclaw-takeover/rename/dead-owner", scenarios.ForeignRelease, "A5 B10 A4"},
		// A judges the lock stale; B does all its work; A makes the guard and is killed.
		{"openclaw-takeover/guarded/crash", scenarios.Wedge, "A9 B24 A1!"},
	} {
		s, err := sched.ParseSchedule(c.schedule)
		require.NoError(t, err, c.id)
		r, err := checker.Replay(find(t, c.id), c.property, s)
		require.NoError(t, err, c.id)
		require.True(t, r.Broken, c.id)
		require.Equal(t, c.schedule, r.Counterexample.Schedule.String(), "%s: no step too many", c.id)
	}
}

// Every interleaving, against every claim. What holds holds although tasks met.
func TestTheClaims(t *testing.T) {
	for _, s := range openclawtakeover.Scenarios() {
		for _, c := range s.Claims {
			r, err := checker.Check(t.Context(), &s, c.Property, checker.Options{})
			require.NoError(t, err, s.ID)
			require.Equal(t, c.Verdict.String(), r.Verdict.String(), "%s %s: %s", s.ID, c.Property, r.Why)
			require.Positive(t, r.Stats.Contended, s.ID)
			t.Logf("%s %s %s: %d states", s.ID, c.Property, r.Verdict, r.Stats.States)
		}
	}
}

// What breaks a variant is what its name says: without a stale lock two processes with
// rm-then-create exclude each other.
func TestRmThenCreateNeedsADeadOwner(t *testing.T) {
	s := find(t, "openclaw-takeover/rm-then-create/dead-owner")
	s.Setup = find(t, "openclaw-takeover/empty-is-stale/contend").Setup
	require.Equal(t, "holds", verdict(t, s, scenarios.MutualExclusion))
}

// A holder that ends in the normal way is a dead owner too, for whoever has read its
// pid before: with three processes no stale lock is needed.
func TestAnOrdinaryExitIsADeadOwnerToo(t *testing.T) {
	s := find(t, "openclaw-takeover/rm-then-create/dead-owner")
	s.Setup = find(t, "openclaw-takeover/empty-is-stale/contend").Setup
	s.Setting.Processes = 3
	require.Equal(t, "broken", verdict(t, s, scenarios.MutualExclusion))
}

// Under the guard nothing of a living process is ever removed, whoever dies.
func TestTheGuardProtectsTheLiving(t *testing.T) {
	s := find(t, "openclaw-takeover/guarded/crash")
	require.Equal(t, "holds", verdict(t, s, scenarios.MutualExclusion))
	require.Equal(t, "holds", verdict(t, s, scenarios.ForeignRelease))
}

// verdict checks a property that the scenario need not claim anything of.
func verdict(t *testing.T, s *scenarios.Scenario, p scenarios.Property) string {
	t.Helper()
	r, err := checker.Check(t.Context(), s, p, checker.Options{})
	require.NoError(t, err, s.ID)
	return r.Verdict.String()
}

func find(t *testing.T, id string) *scenarios.Scenario {
	t.Helper()
	for _, s := range openclawtakeover.Scenarios() {
		if s.ID == id {
			return &s
		}
	}
	t.Fatalf("no scenario %s", id)
	return nil
}
