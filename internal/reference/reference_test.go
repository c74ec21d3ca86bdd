package reference

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

const dir = "../../docs/reference"

// enough bounds the spaces of which the odds are computed. Some rows are broken in spaces
// that have no end.
const enough = 500_000

// decide decides every claim of the list, over all interleavings; with the odds where the
// space is not too large for that.
func decide(t *testing.T, list []scenarios.Scenario) []checker.Result {
	t.Helper()
	var out []checker.Result
	for i := range list {
		for _, c := range list[i].Claims {
			r, err := checker.Check(t.Context(), &list[i], c.Property, checker.Options{})
			require.NoError(t, err)
			require.True(t, r.AsClaimed(), "%s, %s: %s %s", list[i].ID, c.Property, r.Verdict, r.Why)
			if r.Verdict == checker.Broken && r.Odds == 0 {
				full, err := checker.Check(t.Context(), &list[i], c.Property, checker.Options{Full: true, States: enough})
				require.NoError(t, err)
				if full.Complete {
					r = full
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// surveyed bounds the states of each question of a survey, as the command does.
const surveyed = 300_000

// survey surveys what the reference needs; none of it may be unknown.
func survey(t *testing.T, list []scenarios.Scenario) []Survey {
	t.Helper()
	var out []Survey
	for _, s := range Subjects(list) {
		studies, err := scenarios.Survey(s)
		require.NoError(t, err)
		lines, err := checker.Survey(t.Context(), studies, checker.Options{SkipOdds: true, States: surveyed})
		require.NoError(t, err)
		for i := range lines {
			require.True(t, lines[i].NotAsked != "" || lines[i].Verdict() != checker.Unknown, "%s %s", s.ID, lines[i].Hazard.ID)
		}
		out = append(out, Survey{s.ID, lines})
	}
	return out
}

// docs/reference is what the verdicts are today, every file of it and no other.
func TestReferenceIsCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("decides everything")
	}
	list := all.All()
	pages, err := Pages(list, decide(t, list), survey(t, list))
	require.NoError(t, err)
	var want []string
	for _, p := range pages {
		golden.CheckFile(t, filepath.Join(dir, filepath.FromSlash(p.Name)), p.Text)
		want = append(want, p.Name)
	}
	require.ElementsMatch(t, want, files(t))
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
	_, err := Pages(list, nil, nil)
	require.ErrorContains(t, err, "reference: ctx/stat-then-write/contend, mutual-exclusion: there is no result")
	claim := list[0].Claims[0]
	_, err = Pages(list, []checker.Result{{Scenario: &list[0], Property: claim.Property, Why: "the budget ended"}}, nil)
	require.ErrorContains(t, err, "is unknown (the budget ended)")
}
