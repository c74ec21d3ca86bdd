package stack

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// A shell is run to find its variable, on the machine as it is: it reads no file of the user's, and what somebody has
// called a shell is not run.
func TestShellsRunNothingElse(t *testing.T) {
	bash, err := filepath.EvalSymlinks(testmain.Needs(t, "bash", "./fsfake/tracer/stack"))
	require.NoError(t, err)
	temp := t.TempDir()
	mark, rc := filepath.Join(temp, "mark"), filepath.Join(temp, "rc")
	require.NoError(t, os.WriteFile(rc, []byte("echo >> "+mark+"\n"), 0o600))
	t.Setenv("BASH_ENV", rc)
	text, err := os.ReadFile(bash)
	require.NoError(t, err)
	own := filepath.Join(temp, "bash")
	require.NoError(t, os.WriteFile(own, text, 0o700))
	var f Files
	f.Know(bash)
	f.Know(own)
	require.NoFileExists(t, mark)
	require.NotContains(t, f.shells, own)
}
