package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is saved of a verdict that depends on an answer is replayed with the answer by which it is broken.
func TestReplayOfAQuestionIsBroken(t *testing.T) {
	raceFile(t)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "n"), []byte("0\n"), 0o644))
	saved := filepath.Join(t.TempDir(), "b.lockpick")
	found := run(t, "run", "--dir", dir, "--native", "off", "--property", "serializable", "--save", saved,
		"mkdir l 2>/dev/null || exit 1; read x <n; echo $((x+1)) >n; rmdir l")
	require.Contains(t, found.stdout, "IT DEPENDS", found.stderr)
	require.Regexp(t, `^run/commands/2  BROKEN  serializable`, run(t, "replay", saved).stdout)
}
