package openclawrelease_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
	"lockpick/scenarios/internal/claims"
	"lockpick/scenarios/openclawrelease"
)

// The races as the reports tell them, step by step.
func TestTheReportedRaces(t *testing.T) {
	claims.Races(t, openclawrelease.Scenarios(), []claims.Race{
		// T1 is between r2 and r3; T2 finds an orphan and makes its own lock; T1 removes it (r4).
		{ID: "openclaw-release/original/tasks", Property: scenarios.ForeignRelease, Schedule: "A7 A.2x12 A2"},
		{ID: "openclaw-release/original/tasks+peer", Property: scenarios.MutualExclusion, Schedule: "A7 A.2x12 A2 B5"},
		// T1 has written its text (a6) and is not yet in the map (a7).
		{ID: "openclaw-release/in-flight/tasks", Property: scenarios.MutualExclusion, Schedule: "A4 A.2x12 A1"},
		// T2 reads the text; T1 ends its release; T2 asks the map; B acquires; T2 removes it.
		{ID: "openclaw-release/option-a/tasks+peer", Property: scenarios.MutualExclusion, Schedule: "A8 A.2x6 A2 A.2x2 B5 A.2x4"},
		// T2 joins the entry whose release has begun.
		{ID: "openclaw-release/option-b-reentrant/tasks", Property: scenarios.ForeignRelease, Schedule: "A7 A.2x2 A2"},
		{ID: "openclaw-release/option-b-reentrant/tasks+peer", Property: scenarios.MutualExclusion, Schedule: "A7 A.2x2 A3 B5"},
		// As in option A; T2 has found nothing to join before T1 came.
		{ID: "openclaw-release/option-b-join/tasks+peer", Property: scenarios.MutualExclusion, Schedule: "A.2x2 A8 A.2x4 A2 A.2x2 B5 A.2x4"},
	})
}

// Every interleaving, against every claim. What holds holds although tasks met.
func TestTheClaims(t *testing.T) {
	for _, sc := range openclawrelease.Scenarios() {
		t.Run(sc.ID, func(t *testing.T) { claims.Run(t, sc) })
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
		require.Equal(t, want, claims.Verdict(t, &s, scenarios.MutualExclusion), s.ID)
	}
}

// Reading again tells an old text from a new one only if the two differ. A third task
// that acquires in the millisecond of the first writes the same text, and is robbed
// between the two looks.
func TestReadingAgainNeedsTextsThatDiffer(t *testing.T) {
	s := claims.Find(t, openclawrelease.Scenarios(), "openclaw-release/option-b-join-reread/tasks+peer")
	s.Setting.Processes, s.Setting.Tasks = 1, []int{3}
	require.Equal(t, "broken", claims.Verdict(t, s, scenarios.MutualExclusion))
}

// Without a second task nothing of this happens: two processes exclude each other.
func TestProcessesWithOneTaskExcludeEachOther(t *testing.T) {
	for _, s := range openclawrelease.Scenarios() {
		s.Setting.Processes, s.Setting.Tasks = 3, nil
		require.Equal(t, "holds", claims.Verdict(t, &s, scenarios.MutualExclusion), s.ID)
	}
}
