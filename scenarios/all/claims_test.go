package all

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/checkertest"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/openclawrelease"
	"lockpick/sched"
)

// What is claimed of the reported systems, which must not know the checker themselves.

// find returns the scenario of the core with an id.
func find(t testing.TB, id string) *scenarios.Scenario {
	t.Helper()
	for _, sc := range Core() {
		if sc.ID == id {
			return &sc
		}
	}
	require.FailNow(t, "no such scenario", id)
	return nil
}

// drawn finds a run that breaks the property, among those that PCT draws for bugs of a
// depth, and replays it.
func drawn(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, depth int) {
	t.Helper()
	o := checker.SampleOptions{Strategy: "pct", Depth: depth, Runs: 20_000, Seed: 1}
	s, err := checker.Sample(t.Context(), sc, p, o)
	require.NoError(t, err)
	require.Equal(t, scenarios.Broken, s.Verdict, "%s %s", sc.ID, p)
	require.LessOrEqual(t, s.Counterexample.Cost.Preemptions, 6)
	r, err := checker.Replay(sc, p, s.Counterexample.Schedule)
	require.NoError(t, err)
	require.True(t, r.Broken, "%s %s %s", sc.ID, p, s.Counterexample.Schedule)
}

// runClaims puts the claims of a scenario to the test as its users do, with checkertest.Run. Under
// the race detector only its first states are explored, by several workers.
func runClaims(t *testing.T, sc scenarios.Scenario) {
	t.Helper()
	if !race.Detector {
		checkertest.Run(t, sc)
		return
	}
	for _, c := range sc.Claims {
		r, err := checker.Check(t.Context(), &sc, c.Property, checker.Options{States: race.States, SkipOdds: true})
		require.NoError(t, err)
		require.Contains(t, []scenarios.Verdict{scenarios.Unknown, c.Verdict}, r.Verdict)
		t.Logf("%s: SKIPPED under the race detector: what lies beyond %d states; go test ./scenarios/all without "+
			"-race runs it", c.Property, race.States)
	}
}

// verdictOn checks a property that the scenario need not claim anything of: "broken",
// "holds" or "unknown". Under the race detector it skips the test.
func verdictOn(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) string {
	t.Helper()
	if race.Detector {
		t.Skip("SKIPPED under the race detector: a verdict over a whole space; go test ./scenarios/all without -race " +
			"runs it")
	}
	r, err := checker.Check(t.Context(), sc, p, checker.Options{})
	require.NoError(t, err, sc.ID)
	return r.Verdict.String()
}

// The races as the reports tell them, step by step: each breaks its property with its last step.
func TestTheReportedRaces(t *testing.T) {
	for _, c := range []struct {
		id       string
		property *scenarios.Property
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
	testmain.OnlyLong(t, "TestEveryRow of ./internal/reference decides these rows, too, once", "./scenarios/all")
	for _, sc := range Core() {
		t.Run(sc.ID, func(t *testing.T) {
			runClaims(t, sc)
		})
	}
}

// What is claimed broken breaks in a drawn run too.
func TestDrawnRunsBreakIt(t *testing.T) {
	for _, sc := range Core() {
		for _, c := range sc.Claims {
			if c.Verdict == scenarios.Broken && (sc.System() == "ctx" || sc.System() == "gateguard") {
				drawn(t, &sc, c.Property, 3)
			}
		}
	}
}

// It takes three: with two runs nobody has the old file open.
func TestTwoRunsExcludeEachOther(t *testing.T) {
	for _, id := range []string{"agentwire/blind-unlink/contend", "agentwire/gated-unlink/contend"} {
		s, err := find(t, id).WithProcesses(2)
		require.NoError(t, err)
		require.Equal(t, "holds", verdictOn(t, &s, scenarios.MutualExclusion), id)
	}
}

// No crash is needed, but one does: while finished runs stay alive, only a killed
// holder is a dead one.
func TestAKilledHolderIsEnough(t *testing.T) {
	s := find(t, "agentwire/blind-unlink/crash")
	s.Setting.Daemons = true
	require.Equal(t, "broken", verdictOn(t, s, scenarios.MutualExclusion))
	s.Setting.Crashes = 0
	require.Equal(t, "holds", verdictOn(t, s, scenarios.MutualExclusion))
}

// Without the cleaner the merged fix holds, and nobody's file goes away.
func TestNobodyUnlinksWithoutTheCleaner(t *testing.T) {
	s := find(t, "agentwire/flock-only/crash")
	require.Equal(t, "holds", verdictOn(t, s, scenarios.ForeignRelease))
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
		require.Equal(t, want, verdictOn(t, &s, scenarios.MutualExclusion), s.ID)
	}
}

// Reading again tells an old text from a new one only if the two differ. A third task
// that acquires in the millisecond of the first writes the same text, and is robbed
// between the two looks.
func TestReadingAgainNeedsTextsThatDiffer(t *testing.T) {
	s := find(t, "openclaw-release/option-b-join-reread/tasks+peer")
	s.Setting.Processes, s.Setting.Tasks = 1, []int{3}
	require.Equal(t, "broken", verdictOn(t, s, scenarios.MutualExclusion))
}

// Without a second task nothing of this happens: two processes exclude each other.
func TestProcessesWithOneTaskExcludeEachOther(t *testing.T) {
	for _, s := range openclawrelease.Scenarios() {
		s.Setting.Processes, s.Setting.Tasks = 3, nil
		require.Equal(t, "holds", verdictOn(t, &s, scenarios.MutualExclusion), s.ID)
	}
}

// What breaks a variant is what its name says: without a stale lock two processes with
// rm-then-create exclude each other.
func TestRmThenCreateNeedsADeadOwner(t *testing.T) {
	s := find(t, "openclaw-takeover/rm-then-create/dead-owner")
	s.Setup = find(t, "openclaw-takeover/empty-is-stale/contend").Setup
	require.Equal(t, "holds", verdictOn(t, s, scenarios.MutualExclusion))
}

// A holder that ends in the normal way is a dead owner too, for whoever has read its
// pid before: with three processes no stale lock is needed.
func TestAnOrdinaryExitIsADeadOwnerToo(t *testing.T) {
	s := find(t, "openclaw-takeover/rm-then-create/dead-owner")
	s.Setup = find(t, "openclaw-takeover/empty-is-stale/contend").Setup
	s.Setting.Processes = 3
	require.Equal(t, "broken", verdictOn(t, s, scenarios.MutualExclusion))
}

// Under the guard nothing of a living process is ever removed, whoever dies.
func TestTheGuardProtectsTheLiving(t *testing.T) {
	s := find(t, "openclaw-takeover/guarded/crash")
	require.Equal(t, "holds", verdictOn(t, s, scenarios.MutualExclusion))
	require.Equal(t, "holds", verdictOn(t, s, scenarios.ForeignRelease))
}

// The pid with a clean-up is safe for two processes only. With three a pid is dead
// because its process has finished, not because it was killed.
func TestPidCleanupBreaksWithThree(t *testing.T) {
	sc, err := find(t, "ctx/pid-cleanup/contend").WithProcesses(3)
	require.NoError(t, err)
	drawn(t, &sc, scenarios.MutualExclusion, 5)
}
