package reference

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/decided"
	"lockpick/internal/golden"
	"lockpick/internal/race"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

const (
	dir = "../../docs/reference"
	// kept is what tests of other packages take for decided.
	kept = "../decided/rows.txt"
	// small bounds the states of each verdict under -short.
	small = 5_000
)

// Every claim of the list is decided over all interleavings, here and nowhere else: it has
// the verdict that is claimed, its smallest schedule replays, and schedule and cause stay the
// ones on record. From the same results docs/reference is what it should be, every file of
// it and no other.
//
// With -short rows of more than 5000 states are left out, and the reference is not made. Rows
// are decided side by side, so each by one worker. Under the race detector every fourth row is
// explored by several, up to [race.States] states: it looks for what workers do to each other,
// which depends on the engine and not on the row.
func TestEveryRow(t *testing.T) {
	list := all.All()
	results := make([][]checker.Result, len(list))
	on := make([]map[Row][]checker.OnFileSystem, len(list))
	var surveys []Survey
	t.Run("decided", func(t *testing.T) {
		for i := range list {
			if race.Detector && i%4 != 0 {
				continue
			}
			t.Run(strings.ReplaceAll(list[i].ID, "/", " "), func(t *testing.T) {
				t.Parallel()
				tried := &checker.Tried{} // by all questions about a row, as the command has it
				results[i] = decideRow(t, &list[i], tried)
				if !testing.Short() && !race.Detector {
					on[i] = onFileSystems(t, &list[i], results[i], tried)
				}
			})
		}
		if testing.Short() || race.Detector {
			return
		}
		subjects := Subjects(list)
		surveys = make([]Survey, len(subjects))
		for i, s := range subjects {
			t.Run("survey "+s.ID, func(t *testing.T) {
				t.Parallel()
				surveys[i] = survey(t, s)
			})
		}
	})
	t.Run("kept", func(t *testing.T) {
		if testing.Short() || race.Detector {
			t.Skip("SKIPPED with -short and under the race detector: large rows, odds, surveys and docs/reference; go test ./internal/reference runs them")
		}
		compare(t, list, slices.Concat(results...), surveys, on)
	})
}

// compare compares what was decided with the record and with docs/reference.
func compare(t *testing.T, list []scenarios.Scenario, results []checker.Result, surveys []Survey, on []map[Row][]checker.OnFileSystem) {
	t.Helper()
	if len(surveys) != len(Subjects(list)) || slices.ContainsFunc(surveys, func(s Survey) bool { return s.Lines == nil }) {
		t.Fatal("not everything was decided: see above")
	}
	var rows strings.Builder
	for i := range results {
		rows.WriteString(rowOf(&results[i]).String())
	}
	rowsOn := map[Row][]checker.OnFileSystem{}
	for _, o := range on {
		maps.Copy(rowsOn, o)
	}
	pages, err := Pages(list, results, surveys, rowsOn)
	require.NoError(t, err)
	golden.CheckFile(t, kept, rows.String())
	want := []string{FurtherPage, RepairsPage} // which TestOneStepFurther and TestRepairs write
	for _, p := range pages {
		golden.CheckFile(t, filepath.Join(dir, filepath.FromSlash(p.Name)), p.Text)
		want = append(want, p.Name)
	}
	require.ElementsMatch(t, want, files(t))
}

// decideRow puts the claims of a row to the test. The odds are those that a check computes,
// in spaces of up to 50 000 states.
func decideRow(t *testing.T, sc *scenarios.Scenario, tried *checker.Tried) []checker.Result {
	t.Helper()
	o := checker.Options{Workers: 1, Tried: tried}
	switch {
	case race.Detector:
		o = checker.Options{States: race.States, SkipOdds: true, Tried: o.Tried} // by several workers
	case testing.Short():
		o.States, o.SkipOdds = small, true
	}
	var out []checker.Result
	for _, c := range sc.Claims {
		r, err := checker.Check(t.Context(), sc, c.Property, o)
		require.NoError(t, err)
		if (testing.Short() || race.Detector) && undecided(&r) {
			t.Logf("%s: SKIPPED with -short and under the race detector: more than %d states; go test ./internal/reference decides it", r.Property, o.States)
			continue
		}
		require.Equal(t, c.Verdict.String(), r.Verdict.String(), "%s: %s", r.Property, r.Why)
		require.True(t, r.AsClaimed(), "%s: %s", r.Property, r.Conditions())
		t.Logf("%s %s: %d states", r.Property, r.Verdict, r.Stats.States)
		if r.Verdict == checker.Broken {
			replays(t, sc, &r)
		}
		was, ok := decided.Of(sc.ID, c.Property.ID)
		if !golden.Updating() {
			require.True(t, ok, "%s is not on record: run the test with -update", c.Property)
			require.Equal(t, was.String(), rowOf(&r).String())
		}
		out = append(out, r)
	}
	return out
}

// onFileSystems asks what becomes of the claims of a row on each file system, where its setting leaves that
// open and it is known what each does.
func onFileSystems(t *testing.T, sc *scenarios.Scenario, results []checker.Result, tried *checker.Tried) map[Row][]checker.OnFileSystem {
	t.Helper()
	out := map[Row][]checker.OnFileSystem{}
	for i := range results {
		r := &results[i]
		if set := &sc.Setting; sc.FileSystem() != "" || set.Assumed().Inodes != scenarios.InodesOpen || set.PowerLosses > 0 {
			continue
		}
		on, err := checker.FileSystems(t.Context(), sc, r, checker.Options{Workers: 1, SkipOdds: true, Tried: tried})
		require.NoError(t, err)
		for _, f := range on {
			require.True(t, f.Verdict != checker.Unknown || f.Result.Why == checker.ErrNothingToJudge.Error(), "%s on %s: %v", r.Property, f.Name, f.Result)
		}
		out[Row{sc.ID, r.Property.ID}] = on
	}
	return out
}

// undecided reports whether a budget ended before the verdict, or before that of a case.
func undecided(r *checker.Result) bool {
	return r.Verdict == checker.Unknown ||
		slices.ContainsFunc(r.Cases, func(c checker.Case) bool { return c.Verdict == checker.Unknown })
}

// replays follows the smallest schedule with the program's own code. The steps that the
// cause names are there.
func replays(t *testing.T, sc *scenarios.Scenario, r *checker.Result) {
	t.Helper()
	require.Equal(t, sc.Setting.Assume, r.Scenario.Setting.Assume,
		"%s is broken in one case of file systems only, which the record cannot say: have the setting assume it", r.Property)
	cx := r.Counterexample
	require.True(t, cx.Smallest, r.Why)
	for _, n := range append(cx.Named, cx.Blamed) {
		require.LessOrEqual(t, n, len(cx.Trace), "%s names a step that there is not", r.Property)
	}
	ran, err := checker.Replay(sc, r.Property, cx.Schedule)
	require.NoError(t, err)
	require.True(t, ran.Broken, cx.Schedule.String())
	require.Equal(t, cx.Cause, ran.Counterexample.Cause)
}

// rowOf is what is kept of a result.
func rowOf(r *checker.Result) decided.Row {
	row := decided.Row{
		Scenario: r.Scenario.ID, Contenders: r.Scenario.Setting.Contenders(), Property: r.Property.ID,
		Verdict: r.Verdict.String(), Conditions: r.Conditions(),
	}
	if cx := r.Counterexample; cx != nil {
		row.Schedule, row.Mistake, row.Cause = cx.Schedule.String(), cx.Mistake, cx.Cause
	}
	return row
}

// survey surveys a protocol; none of it may be unknown.
func survey(t *testing.T, s scenarios.Subject) Survey {
	t.Helper()
	studies, err := scenarios.Survey(s)
	require.NoError(t, err)
	var lines []checker.Surveyed
	for _, study := range studies {
		lines = append(lines, checker.Survey(t.Context(), study, checker.Options{SkipOdds: true, Workers: 1}))
	}
	for i := range lines {
		require.True(t, lines[i].NotAsked != "" || lines[i].Verdict() != checker.Unknown, "%s %s", s.ID, lines[i].Hazard.ID)
	}
	return Survey{s.ID, lines}
}

func files(t *testing.T) []string {
	t.Helper()
	var out []string
	root := os.DirFS(dir)
	for _, pattern := range []string{"*", "*/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		for _, n := range names {
			rel, err := filepath.Rel(dir, n)
			require.NoError(t, err)
			f, err := root.Open(filepath.ToSlash(rel))
			require.NoError(t, err)
			info, err := f.Stat()
			require.NoError(t, err)
			require.NoError(t, f.Close())
			if !info.IsDir() {
				out = append(out, filepath.ToSlash(rel))
			}
		}
	}
	return out
}

// A claim without its verdict, or with an unknown one, makes no reference.
func TestNoReferenceWithGaps(t *testing.T) {
	list := all.Core()[:1]
	_, err := Pages(list, nil, nil, nil)
	require.ErrorContains(t, err, "reference: ctx/stat-then-write/contend, mutual-exclusion: there is no result")
	claim := list[0].Claims[0]
	_, err = Pages(list, []checker.Result{{Scenario: &list[0], Property: claim.Property, Why: "the budget ended"}}, nil, nil)
	require.ErrorContains(t, err, "is unknown (the budget ended)")
}
