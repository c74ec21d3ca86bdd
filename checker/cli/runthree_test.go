package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// What holds with two runs of a command is asked with three. A lock on the file that sed replaces holds with two and
// is broken with three; -n 2 means two; one command alone is run twice.
func TestRunAsksThree(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	dir := t.TempDir()
	for name, text := range map[string]string{"conf": "a=1\n", "n": "0\n", "up.sh": "read x <n\necho $((x+1)) >n\n",
		"edit.sh": "read x <conf\necho ${x}2 >k\nmv k conf\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	const edit = "flock conf sh edit.sh"
	save := filepath.Join(t.TempDir(), "race.lockpick")
	for _, c := range []struct {
		args    []string
		exit    int
		says    []string
		saysNot string
	}{
		{[]string{"--save", save, edit}, ExitDiffers, []string{"run/commands/2  HOLDS", "run/commands/3  BROKEN"}, ""},
		{[]string{"-n", "2", "--", "flock", "k", "sh", "up.sh"}, ExitAsClaimed,
			[]string{"run/commands/2  HOLDS"}, "commands/3"},
		{[]string{"flock k sh up.sh"}, ExitAsClaimed, []string{"run/commands/2  HOLDS", "run/commands/3  HOLDS"}, ""},
		{[]string{"--", "sh", "up.sh"}, ExitDiffers, []string{"sh up.sh × 2", "run/commands/2  BROKEN"}, "commands/3"},
		{[]string{"flock k sh up.sh", "cat n"}, ExitDiffers, []string{"run/commands/2  BROKEN"}, "commands/3"},
		{[]string{"--crashes", "1", "touch n"}, ExitAsClaimed, []string{"run/commands/1  HOLDS", "-n 2 asks it"},
			"commands/2"},
	} {
		alike := []string{"-n 2 -- flock k sh up.sh", "flock k sh up.sh cat n"} // how many are asked the others show
		if slices.Contains(alike, strings.Join(c.args, " ")) && !testmain.Long() {
			continue
		}
		args := []string{"run", "--native", "off", "--dir", dir, "--property", "serializable"}
		got := run(t, append(args, c.args...)...)
		require.Equal(t, c.exit, got.exit, "%v: %s%s", c.args, got.stdout, got.stderr)
		for _, text := range c.says {
			require.Contains(t, got.stdout, text, c.args)
		}
		if at := strings.Index(got.stdout, "BROKEN"); at > 0 {
			require.NotContains(t, got.stdout[:at], "HOLDS", "%v: the worst comes first", c.args)
		}
		if c.saysNot != "" {
			require.NotContains(t, got.stdout, c.saysNot, c.args)
		}
	}
	got := run(t, "replay", save)
	require.Contains(t, got.stdout, "run/commands/3  BROKEN", got.stderr)
}
