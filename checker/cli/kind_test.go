package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each command takes a number and counts itself. Whoever finds its number taken fails, which takes the fewest steps;
// that both succeed and one is not counted takes more.
const addCertificate = `-- add.sh --
set -C
read n < serial
echo $1 > cert.$n || exit 1
echo $((n+1)) >| serial
read n < count
echo $((n+1)) >| count
-- serial --
1
-- count --
0
-- commands --
sh add.sh A
sh add.sh B
`

// The worst kind of counterexample is shown, and the others have a line each; --kind chooses.
func TestRunShowsTheWorst(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	file := filepath.Join(t.TempDir(), "add.txtar")
	require.NoError(t, os.WriteFile(file, []byte(addCertificate), 0o600))
	got := run(t, "run", "--native", "off", "--refused", "none", "--property", "serializable", file)
	require.Contains(t, got.stdout, "no smaller one of its kind exists")
	require.Contains(t, got.stdout, "  kind    lost: every command ends as in a serial run, and data is lost")
	require.Contains(t, got.stdout, "  also    refused: a command fails")
	require.Regexp(t, `count +"1\\n" +"2\\n" +"2\\n"`, got.stdout)

	got = run(t, "run", "--native", "off", "--refused", "none", "--property", "serializable", "--kind",
		"refused", "--json", file)
	require.Regexp(t, `(?s)"kind": "refused",\s+"schedule".*"also": \[\s+{\s+"kind": "lost"`, got.stdout)

	got = run(t, "run", "--kind", "worse", file)
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "choose lost, mixed, undone, altered, failed, refused")
}

// The worst is shown also of commands that look at the clock, which are asked once more where it moves.
func TestRunShowsTheWorstInTime(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	file := filepath.Join(t.TempDir(), "c.txtar")
	require.NoError(t, os.WriteFile(file, []byte(`-- c.sh --
[ $(($(date +%s) % 7)) = 0 ] && : <n
read x <n; echo $((x+1)) >n
mkdir m && rmdir m
-- n --
0
-- commands --
sh c.sh
sh c.sh
`), 0o600))
	got := run(t, "run", "--native", "off", "--property", "serializable", file)
	require.Contains(t, got.stdout, "assuming sleeps-last", "the verdict depends on the clock")
	require.Contains(t, got.stdout, "  kind    lost: every command ends as in a serial run, and data is lost")
	require.Contains(t, got.stdout, "  also    altered: a command fails, and has changed a file all the same")
	require.Regexp(t, `n +"1\\n" +"2\\n" +"2\\n"`, got.stdout)
}
