package agentwire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
	"lockpick/scenarios/agentwire"
	"lockpick/scenarios/internal/claims"
)

// The races as the reports tell them, step by step.
func TestTheReportedRaces(t *testing.T) {
	claims.Races(t, agentwire.Scenarios(), []claims.Race{
		// B polls while A holds; A ends; B finds A dead; C opens the file; B unlinks it.
		{ID: "agentwire/blind-unlink/crash", Property: scenarios.MutualExclusion, Schedule: "A3 B3 A1! B4 C2 B5 C2"},
		{ID: "agentwire/blind-unlink/contend", Property: scenarios.MutualExclusion, Schedule: "A3 B3 A5 B4 C2 B5 C2"},
		// The same; B asks whether anybody has the lock before it unlinks.
		{ID: "agentwire/gated-unlink/contend", Property: scenarios.MutualExclusion, Schedule: "A3 B3 A5 B8 C2 B5 C2"},
		// B opens the file that tells who holds it.
		{ID: "agentwire/truncating-open/contend", Property: scenarios.OwnerInfo, Schedule: "A4 B2 A3"},
		// A asks at the wrong moment.
		{ID: "agentwire/probe-by-locking/contend", Property: scenarios.SpuriousFailure, Schedule: "B2 A2 B2"},
		// A has opened the file, so it is empty; C cleans it away; B makes another.
		{ID: "agentwire/flock-only/cleaner", Property: scenarios.MutualExclusion, Schedule: "A3 C8 A1 B4"},
	})
}

// Every interleaving, against every claim. What holds holds although tasks met.
func TestTheClaims(t *testing.T) {
	for _, sc := range agentwire.Scenarios() {
		t.Run(sc.ID, func(t *testing.T) { claims.Run(t, sc) })
	}
}

// It takes three: with two runs nobody has the old file open.
func TestTwoRunsExcludeEachOther(t *testing.T) {
	for _, id := range []string{"agentwire/blind-unlink/contend", "agentwire/gated-unlink/contend"} {
		s, err := claims.Find(t, agentwire.Scenarios(), id).WithProcesses(2)
		require.NoError(t, err)
		require.Equal(t, "holds", claims.Verdict(t, &s, scenarios.MutualExclusion), id)
	}
}

// No crash is needed, but one does: while finished runs stay alive, only a killed
// holder is a dead one.
func TestAKilledHolderIsEnough(t *testing.T) {
	s := claims.Find(t, agentwire.Scenarios(), "agentwire/blind-unlink/crash")
	s.Setting.Daemons = true
	require.Equal(t, "broken", claims.Verdict(t, s, scenarios.MutualExclusion))
	s.Setting.Crashes = 0
	require.Equal(t, "holds", claims.Verdict(t, s, scenarios.MutualExclusion))
}

// Without the cleaner the merged fix holds, and nobody's file goes away.
func TestNobodyUnlinksWithoutTheCleaner(t *testing.T) {
	s := claims.Find(t, agentwire.Scenarios(), "agentwire/flock-only/crash")
	require.Equal(t, "holds", claims.Verdict(t, s, scenarios.ForeignRelease))
}
