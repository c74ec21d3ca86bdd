package cli

import (
	"os"
	"path/filepath"
	"strings"
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

// What is proposed fits the programs: data is not made by O_EXCL, the status is that of the command, and a lock that is
// upgraded is not given back too early. A read is that of the text, and not that of the end of the file.
func TestFixesFitThePrograms(t *testing.T) {
	testmain.Needs(t, "flock", "./checker/cli")
	for name, c := range map[string]struct {
		script string
		flags  []string
		says   []string
	}{
		"looks for a line and appends": {`grep -q x n || echo x >> n`, nil, []string{"(LP1002, read, then"}},
		"gives up": {
			`exec 9>l; flock -n 9 || exit 7; echo 1 > m`, []string{"--refused", "none"},
			[]string{"--refused 7. (LP1027"},
		},
		"upgrades": {
			"exec 9>l; flock -s 9\nread x < m\nflock 9\necho $((x+1)) > m", nil,
			[]string{"(LP1029, shared, then", "c.sh:3: step 43, B: flock fd 5 LOCK_EX ← this one went wrong"},
		},
		"looks elsewhere after what stood in its way": {
			"set -C\necho $$ > l || { [ -e $PWD/m ]; exit 1; }\nrm l",
			[]string{"--property", "wedge", "--crashes", "1"},
			[]string{"A created l (inode 1)", "and nobody else removes it"},
		},
		"reads to the end": {
			"x=$(cat m)\necho $((x+1)) > m", nil,
			[]string{`A read "0\n" from m (inode 1, there from the start) at step 9.`, `9 read fd 3 = "0\n"`},
		},
	} {
		args := append([]string{"run", "--native", "off", "--property", "serializable"}, c.flags...)
		text := "-- commands --\nsh c.sh\nsh c.sh\n-- c.sh --\n" + c.script + "\n-- m --\n0\n"
		got := run(t, append(args, archive(t, text))...)
		flat := strings.Join(strings.Fields(got.stdout), " ")
		for _, text := range c.says {
			require.Contains(t, flat, strings.Join(strings.Fields(text), " "), "%s: %s", name, got.stdout)
		}
	}
}

// What needs no kill is not sought among kills: a command that deadlocks alone is decided without them, and a note says
// that nothing else is.
func TestDeadlockBeforeKills(t *testing.T) {
	testmain.Needs(t, "flock", "./checker/cli")
	file := archive(t, "-- commands --\nflock a flock b true & flock b flock a true & wait\n-- a --\n-- b --\n")
	got := run(t, "run", "--native", "off", "--crashes", "1", file)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, "BROKEN  deadlock")
	require.NotContains(t, got.stdout, "serializable")
	require.Contains(t, got.stderr, "deadlocks in some order of its own processes, without a kill: only that is")
}

// Code in a fix is code in the text for an issue.
func TestFixInMarkdown(t *testing.T) {
	testmain.Needs(t, "flock", "./checker/cli")
	commands := archive(t, "-- commands --\nflock -n l touch m\nflock -n l touch m\n")
	got := run(t, "run", "--native", "off", "--property", "serializable", "--refused", "none", "--markdown", "-",
		commands)
	require.Contains(t, got.stdout, "**Fix:** Wait for the lock (flock without -n, `.timeout` in sqlite3).")
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

// An fsync that fails with EIO has dropped what was not written, which no kernel is asked to do: the verdict stands.
func TestFailingFsyncIsNotCarriedOut(t *testing.T) {
	testmain.Needs(t, "perl", "./checker/cli")
	file := archive(t, "A program that ignores a failing fsync.\n-- commands --\n"+
		`perl -MIO::Handle -e 'open F, ">t"; print F "new"; F->flush; F->sync; close F; rename "t", "f"'`+
		"\n-- setting --\ndir /srv/saves\n-- f --\nold\n")
	got := run(t, "run", "--native", "off", "--failing-calls", "1", "--fail-with", "EIO", "--property", "atomic", file)
	require.Equal(t, ExitDiffers, got.exit, got.stdout)
	require.Contains(t, got.stdout, "not carried out on this kernel: an fsync that fails drops")
}
