package agentwire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/sched"
)

// The races as the reports tell them, step by step.
func TestTheReportedRaces(t *testing.T) {
	for _, c := range []struct {
		id       string
		property scenarios.Property
		schedule string
	}{

		// B polls while A holds; A ends; B finds A dead; C opens the file; B unlinks it.
		{"agentwire/blind-unlink/crash", scenarios.MutualExclusion, "A3 B3 A1! B4 C2 B5 C2"},
		{"agentwire/blind-unlink/contend", scenarios.MutualExclusion, "A3 B3 A5 B4 C2 B5 C2"},
		// The same; B asks whether anybody has the lock before it unlinks.
		{"agentwire/gated-unlink/contend", scenarios.MutualExclusion, "A3 B3 A5 B8 C2 B5 C2"},
		// B opens the file that tells who holds it.
		{"agentwire/truncating-open/contend", scenarios.OwnerInfo, "A4 B2 A3"},
		// A asks at the wrong moment.
		{"agentwire/probe-by-locking/contend", scenarios.SpuriousFailure, "B2 A2 B2"},
		// A has opened the file, so it is empty; C cleans it away; B makes another.
		{"agentwire/flock-only/cleaner", scenarios.MutualExclusion, "A3 C8 A1 B4"},
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
	for _, s := range agentwire.Scenarios() {
		for _, c := range s.Claims {
			r, err := checker.Check(t.Context(), &s, c.Property, checker.Options{})
			require.NoError(t, err, s.ID)
			require.Equal(t, c.Verdict.String(), r.Verdict.String(), "%s %s: %s", s.ID, c.Property, r.Why)
			require.Positive(t, r.Stats.Contended, s.ID)
			t.Logf("%s %s %s: %d states", s.ID, c.Property, r.Verdict, r.Stats.States)
		}
	}
}

// It takes three: with two runs nobody has the old file open.
func TestTwoRunsExcludeEachOther(t *testing.T) {
	for _, id := range []string{"agentwire/blind-unlink/contend", "agentwire/gated-unlink/contend"} {
		s, err := find(t, id).WithProcesses(2)
		require.NoError(t, err)
		require.Equal(t, "holds", verdict(t, &s, scenarios.MutualExclusion), id)
	}
}

// No crash is needed, but one does: while finished runs stay alive, only a killed
// holder is a dead one.
func TestAKilledHolderIsEnough(t *testing.T) {
	s := find(t, "agentwire/blind-unlink/crash")
	s.Setting.Daemons = true
	require.Equal(t, "broken", verdict(t, s, scenarios.MutualExclusion))
	s.Setting.Crashes = 0
	require.Equal(t, "holds", verdict(t, s, scenarios.MutualExclusion))
}

// Without the cleaner the merged fix holds, and nobody's file goes away.
func TestNobodyUnlinksWithoutTheCleaner(t *testing.T) {
	s := find(t, "agentwire/flock-only/crash")
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
	for _, s := range agentwire.Scenarios() {
		if s.ID == id {
			return &s
		}
	}
	t.Fatalf("no scenario %s", id)
	return nil
}
