package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// archive writes an archive of commands, and skips the test where programs cannot be traced.
func archive(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(filepath.Dir(raceFile(t)), "said.txtar")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// A command that fails has said why, and that is part of the answer.
func TestCarriedStderr(t *testing.T) {
	testmain.Needs(t, "flock", "./checker/cli")
	got := run(t, "run", "--native", "off", "--property", "serializable", "--refused", "none", archive(t, `
-- commands --
sh c.sh
sh c.sh
-- c.sh --
exec 9>l; flock 9
read x < n || { echo looking at n >&2; echo n is empty >&2; exit 4; }
exec 8>n; flock -u 9
echo $((x+1)) >&8
-- n --
0
`))
	require.Contains(t, got.stdout, "\n  stderr  B: n is empty\n")
	require.Contains(t, got.stdout, "B   exit 4")
}

// A call that an interpreter makes for no line of the script is not told to stand in the source of the interpreter, as
// the write of a buffer at the end. It matters with an interpreter that has debug information.
func TestNoSourceOfTheInterpreter(t *testing.T) {
	testmain.Slow(t, "it runs Python", "./checker/cli")
	python := testmain.Python(t, "./checker/cli")
	got := run(t, "run", "--native", "off", "--property", "serializable", archive(t, `
-- commands --
`+python+` w.py
`+python+` w.py
-- w.py --
n = open("n").read()
f = open("n", "w")
f.write(n + "x")
-- n --
0
`))
	require.Contains(t, got.stdout, "w.py:1: step")
	require.NotContains(t, got.stdout, ".c:")
}
