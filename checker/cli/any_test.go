package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// --procs any says what it does not ask, and is text only.
func TestCheckAnyNumber(t *testing.T) {
	t.Parallel()
	got := run(t, "check", "toy/excl/contend", "toy/look/contend", "--procs", "any", "--property", "mutual-exclusion")
	require.Equal(t, ExitAsClaimed, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "toy/look/contend mutual-exclusion: broken with 2 processes\n")
	require.Contains(t, got.stdout, "toy/excl/contend mutual-exclusion: holds for any number of processes; nobody is "+
		"killed")
	require.Contains(t, got.stdout, "1 proved for any number · 1 broken · 0 not proved · 0 not asked\n")
	got = run(t, "check", "toy/excl/contend", "--procs", "any", "--property", "wedge")
	require.Contains(t, got.stdout, "0 proved for any number · 0 broken · 0 not proved · 1 not asked\n", got.stderr)
	got = run(t, "check", "toy/excl/contend", "--procs", "any", "--json")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "--procs any prints lines of text")
}

// Any number of copies of a command are proved. Where they are not, a few are decided.
func TestRunAnyNumber(t *testing.T) {
	file := raceFile(t) // skips where programs cannot be traced
	testmain.Needs(t, "flock", "./checker/cli")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o600))
	ask := func(args ...string) outcome {
		return run(t, slices.Concat([]string{"run", "--native", "off", "--dir", dir, "-n", "any"}, args)...)
	}
	got := ask("flock n sh -c 'read x < n; echo $((x+1)) > n'")
	require.Equal(t, ExitAsClaimed, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "run/commands/any  HOLDS  serializable, deadlock")
	require.Contains(t, got.stdout, `lock    n, from "flock fd 3 LOCK_EX" to "end with status 0"`)
	require.NotContains(t, got.stdout, "commands/2")
	require.Contains(t, got.stdout, "assumed each copy leaves something new, so 12 were run one after the other")

	got = ask("read x < n")
	require.Equal(t, ExitAsClaimed, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "a copy changes no file")
	got = ask("echo x >> n")
	require.Equal(t, ExitUnknown, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "run/commands/2  HOLDS  serializable")
	require.Contains(t, got.stdout, "run/commands/any  UNKNOWN  serializable, deadlock")
	got = ask("read x < n; echo $((x+1)) > n")
	require.Equal(t, ExitDiffers, got.exit)
	require.NotContains(t, got.stdout, "commands/any")

	for _, args := range [][]string{{"true", "false"}, {"true", "--crashes", "1"}, {"true", "--json"}, {file}} {
		require.Equal(t, ExitUsage, ask(args...).exit, args)
	}
}
