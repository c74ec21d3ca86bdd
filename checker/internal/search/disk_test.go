package search

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// onDisk covers a scenario's space on disk, with hardly any memory for what follows from a level.
func onDisk(ctx context.Context, t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, o Limits, d Disk) (*Explorer, *Coverage, error) {
	x, err := NewExplorer(sc, p)
	require.NoError(t, err)
	x.RememberMonitors()
	d.room = 1 << 16
	c, err := x.ExploreOnDisk(ctx, o, d)
	return x, c, err
}

// inMemory covers it in memory.
func inMemory(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) (*Explorer, *Coverage) {
	x, err := NewExplorer(sc, p)
	require.NoError(t, err)
	x.RememberMonitors()
	c, err := x.Explore(t.Context(), Limits{Workers: 1}, x.Initial)
	require.NoError(t, err)
	return x, c
}

func same(t *testing.T, x, y *Explorer, want, got *Coverage) {
	t.Helper()
	require.True(t, got.Complete, got.Why)
	require.Equal(t, want.Count(), got.Count(), "states")
	require.Equal(t, want.Transitions, got.Transitions, "transitions")
	require.Equal(t, want.Contended, got.Contended, "contended")
	require.Equal(t, want.Violations, got.Violations, "violations")
	require.Equal(t, want.Depth, got.Depth, "depth")
	require.Equal(t, x.Fingerprints(want.Violated), y.Fingerprints(got.Violated))
	require.ElementsMatch(t, x.Facts(), y.Facts())
	require.Equal(t, x.Observed(), y.Observed())
}

// sized are spaces of some thousand states: one that holds, and one that is broken.
func sized(t *testing.T) map[*scenarios.Scenario]*scenarios.Property {
	return map[*scenarios.Scenario]*scenarios.Property{
		fixtures.Row(t, "ctx/excl/crash", 0):              scenarios.MutualExclusion,
		fixtures.Row(t, "ctx/stat-then-write/contend", 3): scenarios.MutualExclusion,
		fixtures.Row(t, "ctx/flock/crash", 0):             scenarios.Wedge,
	}
}

// A space on disk is the space in memory, however often the search is interrupted: whatever is in the
// directory while a level is being expanded is what a process leaves that is killed then.
func TestDiskIsMemory(t *testing.T) {
	testmain.Slow(t, "it covers spaces on disk", "./checker/internal/search")
	fixtures.OneWorker(t)
	for sc, p := range sized(t) {
		t.Run(sc.ID, func(t *testing.T) {
			x, want := inMemory(t, sc, p)
			dir := testmain.QuickDir(t)
			var snapshots []string
			progress := func(g Progress) {
				if g.Depth%7 == 3 {
					at := filepath.Join(testmain.QuickDir(t), "left")
					require.NoError(t, os.CopyFS(at, os.DirFS(dir)))
					snapshots = append(snapshots, at)
				}
			}
			y, got, err := onDisk(t.Context(), t, sc, p, Limits{Progress: progress}, Disk{Dir: dir})
			require.NoError(t, err)
			same(t, x, y, want, got)
			if got.Violations > 0 {
				path, err := y.Path(got)
				require.NoError(t, err)
				shortest, err := x.Path(want)
				require.NoError(t, err)
				require.Len(t, path, len(shortest))
				tester, err := NewTester(sc, p)
				require.NoError(t, err)
				_, err = tester.Counterexample(path)
				require.NoError(t, err)
			}
			require.NotEmpty(t, snapshots)
			for _, at := range append(snapshots, dir) { // the last is complete
				y, got, err := onDisk(t.Context(), t, sc, p, Limits{}, Disk{Dir: at, Resume: true})
				require.NoError(t, err)
				same(t, x, y, want, got)
			}
		})
	}
}

// Who is stopped, or has no room left on the disk, goes on later.
func TestDiskIsResumed(t *testing.T) {
	fixtures.OneWorker(t)
	sc, p := fixtures.Row(t, "ctx/flock/crash", 0), scenarios.MutualExclusion
	x, want := inMemory(t, sc, p)
	dir := testmain.QuickDir(t)
	d := Disk{Dir: dir, Bytes: 6000}
	_, c, err := onDisk(t.Context(), t, sc, p, Limits{}, d)
	require.NoError(t, err)
	require.False(t, c.Complete)
	require.Contains(t, c.Why, "the limit on disk was reached first: ")
	_, _, err = onDisk(t.Context(), t, sc, p, Limits{}, d)
	require.ErrorContains(t, err, "resume it, or remove")
	d = Disk{Dir: dir, Resume: true}
	ctx, cancel := context.WithCancel(t.Context())
	depth := c.Depth
	_, c, err = onDisk(ctx, t, sc, p, Limits{Progress: func(g Progress) {
		if g.Depth == depth+4 {
			cancel()
		}
	}}, d)
	require.NoError(t, err)
	require.Contains(t, c.Why, "it was stopped")
	require.Equal(t, depth+4, c.Depth)
	y, c, err := onDisk(t.Context(), t, sc, p, Limits{}, d)
	require.NoError(t, err)
	same(t, x, y, want, c)
}

// What is of another program, or was damaged, is an error, and no verdict.
func TestDiskOfSomethingElse(t *testing.T) {
	fixtures.OneWorker(t)
	sc, p := fixtures.New("toy/x/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2},
		scenarios.Claim{Property: scenarios.MutualExclusion, Verdict: scenarios.Broken}), scenarios.MutualExclusion
	dir := testmain.QuickDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	const program = "a program"
	_, _, err := onDisk(ctx, t, sc, p, Limits{Progress: func(g Progress) {
		if g.Depth == 6 {
			cancel()
		}
	}}, Disk{Dir: dir, Program: program})
	require.NoError(t, err)
	try := func(sc *scenarios.Scenario, change func(dir string)) error {
		at := filepath.Join(testmain.QuickDir(t), "copy")
		require.NoError(t, os.CopyFS(at, os.DirFS(dir)))
		change(at)
		_, _, err := onDisk(t.Context(), t, sc, p, Limits{}, Disk{Dir: at, Resume: true, Program: program})
		return err
	}
	_, _, err = onDisk(t.Context(), t, sc, p, Limits{}, Disk{Dir: dir, Resume: true, Program: "another"})
	require.ErrorContains(t, err, "its states are of another build of the program")
	nothing := func(string) {}
	require.NoError(t, try(sc, nothing))
	other := fixtures.New(sc.ID, fixtures.Excl(), sc.Setting, sc.Claims...)
	require.ErrorContains(t, try(other, nothing), "another version")
	wider := *sc
	wider.Setting.Crashes = 1
	require.ErrorContains(t, try(&wider, nothing), "ask for that, or choose another directory")
	changed := func(name, from, to string) func(string) {
		return func(dir string) {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err)
			require.Contains(t, string(text), from)
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), bytes.Replace(text, []byte(from), []byte(to), 1), 0o666))
		}
	}
	require.ErrorContains(t, try(sc, changed(keptName, `"depth": 6`, `"depth": 5`)), "level.json is damaged")
	require.ErrorContains(t, try(sc, changed(keptName, `"done": false`, `"done": true`)), "level.json is damaged")
	require.ErrorContains(t, try(sc, changed(keptName, `"lockpick_disk": 2`, `"lockpick_disk": 1`)), "its states are of version 1, and this program reads version 2")
	require.ErrorContains(t, try(sc, changed("level-6", "lockrun2", "lockruns")), "level-6: the file is of another version of lockpick")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	for _, file := range files {
		name := filepath.Base(file)
		if name == "lock" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for at := range 10 {
			at := at * (len(text) - 2) / 9
			damage := func(dir string) {
				text := append([]byte(nil), text...)
				text[at] ^= 0x15
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o666))
			}
			require.Error(t, try(sc, damage), "%s at %d", name, at)
			cut := func(dir string) { require.NoError(t, os.Truncate(filepath.Join(dir, name), int64(at))) }
			require.Error(t, try(sc, cut), "%s cut at %d", name, at)
		}
	}
}

// Only one process works in a directory.
func TestDiskIsLocked(t *testing.T) {
	sc, p := fixtures.Row(t, "ctx/excl/crash", 0), scenarios.MutualExclusion
	dir := testmain.QuickDir(t)
	var second error
	_, _, err := onDisk(t.Context(), t, sc, p, Limits{Progress: func(Progress) {
		if second == nil {
			_, _, second = onDisk(t.Context(), t, sc, p, Limits{}, Disk{Dir: dir, Resume: true})
		}
	}}, Disk{Dir: dir})
	require.NoError(t, err)
	require.ErrorContains(t, second, "another process works in")
	require.False(t, errors.Is(second, os.ErrNotExist))
}
