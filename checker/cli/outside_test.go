package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// HOME is the user's, with its files: a race there is found, carried out on the kernel and replayed, and nothing
// in it is changed. What is saved has HOME of the environment, and nothing else.
func TestRunInHome(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	home, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(home+"/count", []byte("0\n"), 0o644))
	t.Setenv("HOME", home)
	t.Setenv("STEP", "1")
	t.Setenv("TERM", "strange")
	save := filepath.Join(t.TempDir(), "race.lockpick")
	t.Chdir(t.TempDir())
	bump := `read x < ~/count; echo $((x+STEP)) > ~/count; [ "$TERM" = dumb ]`
	got := run(t, "run", "--property", "serializable", "--save", save, bump, bump)
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, "the model agrees with this kernel")
	text, err := os.ReadFile(home + "/count")
	require.NoError(t, err)
	require.Equal(t, "0\n", string(text))
	text, err = os.ReadFile(save)
	require.NoError(t, err)
	require.Contains(t, string(text), "env HOME="+home+"\n")
	require.NotContains(t, string(text), "env STEP")
	require.NoError(t, os.Remove(home+"/count")) // it was saved, too
	got = run(t, "replay", save, "--real")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, "BROKEN  serializable")

	got = run(t, "run", "--property", "serializable", "--outside", "real", "echo 1 >> ~/real; > here",
		"echo 1 >> ~/real; > here")
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.FileExists(t, home+"/real")
}

// A race through a symbolic link that leads out of the directory is found, and nothing there is changed.
func TestRunThroughALinkThatLeadsOut(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/d", 0o755))
	require.NoError(t, os.WriteFile(dir+"/n", []byte("0\n"), 0o644))
	require.NoError(t, os.Symlink("../n", dir+"/d/link"))
	const bump = "read x < link; echo $((x+1)) > link"
	got := run(t, "run", "--dir", dir+"/d", "--property", "serializable", "--native", "off", bump, bump)
	require.Equal(t, ExitDiffers, got.exit, got.stdout)
	text, err := os.ReadFile(dir + "/n")
	require.NoError(t, err)
	require.Equal(t, "0\n", string(text))
}

// What lies outside is shared: a script that locks itself, as the manual of flock(1) has it, and a file that is made in
// /tmp and renamed into the directory.
func TestRunSharesWhatLiesOutside(t *testing.T) {
	testmain.Needs(t, "flock", "./checker/cli")
	raceFile(t) // skips where programs cannot be traced
	dir, script := t.TempDir(), filepath.Join(t.TempDir(), "job.sh")
	require.NoError(t, os.WriteFile(dir+"/n", []byte("0\n"), 0o644))
	const bump = `read x < n; t=$(mktemp); echo $((x+1)) > $t; mv $t n`
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"+
		`[ "$FLOCKER" = "$0" ] || exec env FLOCKER="$0" flock -en "$0" "$0"`+"\n"+bump+"\n"), 0o755))
	for _, c := range []struct {
		line, refused string
		exit          int
	}{
		{script, "1", ExitAsClaimed},
		{bump, "none", ExitDiffers},
	} {
		got := run(t, "run", "--dir", dir, "--property", "serializable", "--native", "off", "--skip-odds",
			"--refused", c.refused, "-n", "2", "--", "sh", "-c", c.line)
		require.Equal(t, c.exit, got.exit, "%s\n%s%s", c.line, got.stdout, got.stderr)
	}
}

// A directory that is not there is no empty one.
func TestRunInNoDirectory(t *testing.T) {
	raceFile(t) // skips where programs cannot be traced
	got := run(t, "run", "--dir", filepath.Join(t.TempDir(), "none"), "> x", "> x")
	require.Equal(t, ExitUsage, got.exit)
	require.Contains(t, got.stderr, "there is no such directory, so the programs would find nothing")
}

// What a killed run has left in the directory of temporary files is removed by the next one.
func TestRunRemovesWhatAKilledRunLeft(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	file := raceFile(t)
	t.Setenv("TMPDIR", t.TempDir())
	left := filepath.Join(os.TempDir(), fmt.Sprintf("lockpick-run-%d-1", os.Getpid()))
	require.NoError(t, os.MkdirAll(filepath.Join(left, "start"), 0o700))
	run(t, "run", "--native", "off", "--property", "serializable", file)
	require.NoDirExists(t, left)
	entries, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, entries)
}
