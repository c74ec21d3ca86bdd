package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// What was found where clocks move is replayed there: each look at a clock is a call then, as when it was saved.
func TestReplayMovesClocks(t *testing.T) {
	testmain.Needs(t, "sh", "./checker/cli")
	raceFile(t)
	dir := t.TempDir()
	for name, text := range map[string]string{"n": "0\n", "c.sh": `t=$(date +%s)
read x <n; [ $(date +%s) -gt $((t + 99)) ] && : >late
echo $((x+1)) >n
`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	saved := filepath.Join(t.TempDir(), "b.lockpick")
	found := run(t, "run", "--dir", dir, "--native", "off", "--property", "serializable", "--save", saved, "sh c.sh")
	again := run(t, "replay", saved)
	require.Equal(t, ExitAsClaimed, again.exit, again.stderr)
	require.NotContains(t, again.stderr, "other calls")
	steps := regexp.MustCompile(`\d+ steps`)
	require.Equal(t, steps.FindString(found.stdout), steps.FindString(again.stdout))
	require.Contains(t, found.stdout, "sleeps-last")
}
