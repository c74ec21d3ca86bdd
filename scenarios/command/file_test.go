package command_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// One file by two names is one file in the copy, too: who counts by one of them races with who counts by the
// other. Files that only look alike are two.
func TestCopyOfHardLinks(t *testing.T) {
	t.Parallel()
	dir, at := t.TempDir(), time.Now()
	for _, name := range []string{"m", "n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("0\n"), 0o644))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o755))
	require.NoError(t, os.Link(filepath.Join(dir, "n"), filepath.Join(dir, "sub", "n")))
	files, err := command.Copy(dir, at)
	require.NoError(t, err)
	same := map[string]string{}
	for _, f := range files {
		same[f.Name] = f.Same
	}
	require.Equal(t, map[string]string{"m": "", "n": "", "sub/": "", "sub/n": "n"}, same)

	for by, verdict := range map[string]string{"sub/n": "broken", "m": "holds"} {
		sc, err := command.Spec{Files: files, Commands: []command.Line{
			{Shell: "read x < n; echo $((x+1)) > n"}, {Shell: "read x < " + by + "; echo $((x+1)) > " + by},
		}}.Scenario()
		needTracing(t, err)
		require.NoError(t, err)
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		decide(t, sc, p, verdict)
	}
}

// A setting that is no setting is refused.
func TestSetRefuses(t *testing.T) {
	for name, values := range map[string][]string{
		"env":     {"", "NAME", "=value"},
		"refused": {"", ",", "abc", "-1", "256"},
		"inside":  {""},
		"crashes": {"-1", "x"},
		"stdout":  {"maybe"},
	} {
		for _, v := range values {
			require.Error(t, new(command.Spec).Set(name, v), "%s %q", name, v)
		}
	}
}
