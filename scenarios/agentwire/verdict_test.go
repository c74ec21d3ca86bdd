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
