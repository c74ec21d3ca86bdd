package openclawrelease_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/scenarios/openclawrelease"
	"lockpick/sched"
)

// The races as the reports tell them, step by step.
func TestTheReportedRaces(t *testing.T) {
	for _, c := range []struct {
		id       string
		property scenarios.Property
		schedule string
	}{

		// T1 is between r2 and r3; T2 finds an orphan and makes its own lock; T1 removes it (r4).
		{"openclaw-release/original/tasks", scenarios.ForeignRelease, "A7 A.2x12 A2"},
		{"openclaw-release/original/tasks+peer", scenarios.MutualExclusion, "A7 A.2x12 A2 B5"},
		// T1 has written its text (a6) and is not yet in the map (a7).
		{"openclaw-release/in-flight/tasks", scenarios.MutualExclusion, "A4 A.2x12 A1"},
		// T2 reads the text; T1 ends its release; T2 asks the map; B acquires; T2 removes it.
		{"openclaw-release/option-a/tasks+peer", scenarios.MutualExclusion, "A8 A.2x6 A2 A.2x2 B5 A.2x4"},
		// T2 joins the entry whose release has begun.
		{"openclaw-release/option-b-reentrant/tasks", scenarios.ForeignRelease, "A7 A.2x2 A2"},
		{"openclaw-release/option-b-reentrant/tasks+peer", scenarios.MutualExclusion, "A7 A.2x2 A3 B5"},
		// As in option A; T2 has found nothing to join before T1 came.
		{"openclaw-release/option-b-join/tasks+peer", scenarios.MutualExclusion, "A.2x2 A8 A.2x4 A2 A.2x2 B5 A.2x4"},
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
	for _, s := range openclawrelease.Scenarios() {
		for _, c := range s.Claims {
			r, err := checker.Check(t.Context(), &s, c.Property, checker.Options{})
			require.NoError(t, err, s.ID)
			require.Equal(t, c.Verdict.String(), r.Verdict.String(), "%s %s: %s", s.ID, c.Property, r.Why)
			require.Positive(t, r.Stats.Contended, s.ID)
			t.Logf("%s %s %s: %d states", s.ID, c.Property, r.Verdict, r.Stats.States)
		}
	}
}

// The race of in-flight is closed in all other variants: two tasks exclude each other.
func TestOnlyInFlightBreaksBetweenTwoTasks(t *testing.T) {
	for _, s := range openclawrelease.Scenarios() {
		if s.SettingName() != "tasks" {
			continue
		}
		want := "holds"
		if s.Variant() == "in-flight" {
			want = "broken"
		}
		require.Equal(t, want, verdict(t, &s, scenarios.MutualExclusion), s.ID)
	}
}

// Reading again tells an old text from a new one only if the two differ. A third task
// that acquires in the millisecond of the first writes the same text, and is robbed
// between the two looks.
func TestReadingAgainNeedsTextsThatDiffer(t *testing.T) {
	s := find(t, "openclaw-release/option-b-join-reread/tasks+peer")
	s.Setting.Processes, s.Setting.Tasks = 1, []int{3}
	require.Equal(t, "broken", verdict(t, s, scenarios.MutualExclusion))
}

// Without a second task nothing of this happens: two processes exclude each other.
func TestProcessesWithOneTaskExcludeEachOther(t *testing.T) {
	for _, s := range openclawrelease.Scenarios() {
		s.Setting.Processes, s.Setting.Tasks = 3, nil
		require.Equal(t, "holds", verdict(t, &s, scenarios.MutualExclusion), s.ID)
	}
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
	for _, s := range openclawrelease.Scenarios() {
		if s.ID == id {
			return &s
		}
	}
	t.Fatalf("no scenario %s", id)
	return nil
}
