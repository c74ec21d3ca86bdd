package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/race"
)

// asCommand makes the test binary the command, for scripts that run it.
const asCommand = "LOCKPICK_TEST_AS_COMMAND"

// The script decides a space in parts that are processes of their own, at each level new ones.
func TestPartsScript(t *testing.T) {
	if race.Detector {
		t.Skip("SKIPPED under the race detector: it starts a hundred processes, of which each is alone; go test ./cmd/lockpick runs it")
	}
	for _, program := range []string{"sh", "awk", "sort", "comm", "join"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: docs/parts.sh needs %s, and there is none here; go test ./cmd/lockpick runs it where there is: %v", program, err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("sh", append([]string{"../../docs/parts.sh", os.Args[0], "2"}, args...)...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	shown := run("write-file-atomic/fsync-file-and-dir/read-after-loss", "--property", "torn-read")
	require.Contains(t, shown, "1 verdict: 1 holds · all as claimed · 32 states")
	require.Contains(t, shown, "part 0 expanded 18 states\npart 1 expanded 14 states\n")
	require.Contains(t, run("gunicorn/check-then-rename/recycled-pid", "--property", "wedge"), "1 verdict: 1 broken · all as claimed")
}
