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
