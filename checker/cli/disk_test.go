package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios/pytorchbaton"
)

// A search on disk that did not end stays until it is decided, whatever else is decided meanwhile; only
// the same question takes it up, and only the program that began it.
func TestStatesOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "states")
	check := func(want int, args ...string) outcome {
		t.Helper()
		got := run(t, append([]string{"check", "toy/look/contend", "--property", "deadlock"}, args...)...)
		require.Equal(t, want, got.exit, got.stderr)
		return got
	}
	kept := func() int {
		folders, err := os.ReadDir(dir)
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		return len(folders)
	}
	require.Contains(t, check(ExitUsage, "--resume", dir).stderr, "no states are kept there: begin with --disk")
	require.Contains(t, check(ExitUnknown, "--disk", dir, "--max-states", "5").stderr, "its states are kept in "+dir)
	require.Contains(t, check(ExitUsage, "--disk", dir, "--json").stdout, "there are states of a search that did not end: resume it")
	other := check(ExitAsClaimed, "--resume", dir, "--procs", "1")
	require.Contains(t, other.stderr, "there are no states of it in "+dir+", as it is asked now: it begins anew")
	require.Equal(t, 1, kept(), "what is of another setting stays")

	level, err := filepath.Glob(filepath.Join(dir, "*", "level.json"))
	require.NoError(t, err)
	require.Len(t, level, 1)
	whole, err := os.ReadFile(level[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(level[0], whole[1:], 0o600))
	require.Contains(t, check(ExitUsage, "--resume", dir, "--json").stdout, "level.json is damaged")
	require.NoError(t, os.WriteFile(level[0], whole, 0o600))

	got, want := check(ExitAsClaimed, "--resume", dir, "--json"), check(ExitAsClaimed, "--json")
	require.Equal(t, want.stdout, got.stdout)
	require.Empty(t, got.stderr)
	require.Zero(t, kept())
}

// Where nobody has looked for traps, there may be one on a shorter way.
func TestNotSmallestWithoutTraps(t *testing.T) {
	explained := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		args = append([]string{"explain", "pytorch-baton/wait-until-gone/crash", "--property", "wedge"}, args...)
		Run(t.Context(), pytorchbaton.Scenarios(), args, &stdout, &stderr, func(string) string { return "" })
		return stdout.String() + stderr.String()
	}
	require.Contains(t, explained(), "no smaller one exists")
	for _, args := range [][]string{{"--max-preemptions", "4"}, {"--disk", t.TempDir()}} {
		require.Contains(t, explained(args...), "a smaller one may exist")
		require.Contains(t, explained(args...), "whether a process polls for ever in vain was not asked")
	}
}
