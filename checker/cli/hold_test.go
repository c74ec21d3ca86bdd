package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// What a shell sees in the directory of commands after a step: the file is as it is then, and who has opened it stands
// still.
func TestReplayStopsAtAStep(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "job.sh"), []byte("read n <n\necho $((n+1)) >n\n"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
	saved := filepath.Join(t.TempDir(), "race.lockpick")
	found := run(t, "run", "--dir", dir, "--property", "serializable", "--native", "off", "--save", saved, "sh job.sh",
		"sh job.sh")
	at := regexp.MustCompile(`(\d+) +open n O_CREAT\|O_TRUNC`).FindStringSubmatch(found.stdout)
	require.NotNil(t, at, found.stdout+found.stderr)
	emptied, err := strconv.Atoi(at[1])
	require.NoError(t, err)

	script := filepath.Join(t.TempDir(), "script")
	text := "wc -c <n\nkill -0 $A && echo A lives\ncd /proc/$A/fd && ls -l\nexit 7\n"
	require.NoError(t, os.WriteFile(script, []byte(text), 0o644))
	stop := func(step int) outcome {
		stdin, err := os.Open(script)
		require.NoError(t, err)
		defer func(was *os.File) { os.Stdin = was; require.NoError(t, stdin.Close()) }(os.Stdin)
		os.Stdin = stdin
		return run(t, "replay", saved, "--stop-at", strconv.Itoa(step))
	}
	before, after := stop(emptied-1), stop(emptied)
	for _, got := range []outcome{before, after} {
		require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
		require.Contains(t, got.stdout, "B has not started, or has ended\n")
		require.Contains(t, got.stdout, "\nA lives\n")
	}
	require.Contains(t, before.stdout, "\n2\n")
	require.NotContains(t, before.stdout, "/n\n")
	require.Contains(t, after.stdout, "\n0\n")
	require.Contains(t, after.stdout, "/n\n", "A has it open")

	for _, args := range [][]string{{saved, "--stop-at", "0"}, {saved, "--stop-at", "1000"}} {
		require.Contains(t, run(t, append([]string{"replay"}, args...)...).stderr, "choose a step from 1 to ")
	}
	require.Contains(t, run(t, "replay", saved, "--stop-at", "1", "--real").stderr, "choose one of them")
	got := run(t, "replay", "toy/look/contend", "A2 B5 A3", "--stop-at", "1")
	require.Equal(t, "lockpick: --stop-at 1: only commands have a directory; give a file that \"lockpick run --save "+
		"FILE\" has written\n", got.stderr)
}
