package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// --procs any says what it does not ask, and is text only.
func TestCheckAnyNumber(t *testing.T) {
	t.Parallel()
	got := run(t, "check", "toy/excl/contend", "toy/look/contend", "--procs", "any", "--property", "mutual-exclusion")
	require.Equal(t, ExitAsClaimed, got.exit, got.stdout+got.stderr)
	require.Contains(t, got.stdout, "toy/look/contend mutual-exclusion: not asked: the processes are not declared "+
		"interchangeable")
	require.Contains(t, got.stdout, "0 proved for any number · 0 broken · 0 not proved · 2 not asked\n")
	got = run(t, "check", "toy/excl/contend", "--procs", "any", "--json")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "--procs any prints lines of text")
}

// Commands are not proved for any number of copies, and the refusal says so.
func TestRunAnyNumber(t *testing.T) {
	t.Parallel()
	got := run(t, "run", "-n", "any", "--", "true")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "commands are decided for a number of copies, and proved for no other: choose 3 or "+
		"more")
}
