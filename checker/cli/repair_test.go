package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// A repair is printed to paste where it holds, and what does not hold is told with its schedule: a lock on the file
// that sed replaces holds with two processes, and not with three.
func TestRunRepairs(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conf"), []byte("a=1\n"), 0o644))
	got := run(t, "run", "--dir", dir, "--property", "serializable", "--repair", "sed -i s/a/b/ conf",
		"sed -i s/1/2/ conf")
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, `
  fix     flock(1) on a file of its own around each command: holds with 2 processes, with 3
          processes, with 2 processes and a kill at any call
          flock conf.lock sed -i s/a/b/ conf
          flock conf.lock sed -i s/1/2/ conf
`)
	require.Contains(t, got.stdout, "  tried   flock(1) on the data file itself: with 3 processes serializable is "+
		"broken by ")
	require.Equal(t, ExitAsClaimed, run(t, "run", "--dir", dir, "--property", "serializable",
		"flock conf.lock sed -i s/a/b/ conf", "flock conf.lock sed -i s/1/2/ conf", "flock conf.lock sed -i s/1/2/ conf").exit)
}
