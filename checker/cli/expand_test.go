package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
)

// A space that is expanded run by run, each of which knows nothing of the others, has the verdict
// of check.
func TestExpandAndMerge(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name string, lines []string) string {
		at := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(at, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
		return at
	}
	const scenario = "toy/look/contend"
	got := run(t, "expand", scenario, "--first")
	require.Zero(t, got.exit, got.stderr)
	level, known := []string{strings.TrimSpace(got.stdout)}, map[string]bool{}
	var shown []string
	for len(level) > 0 {
		got := run(t, "expand", scenario, "--cache", dir, "--in", file("level", level))
		require.Zero(t, got.exit, got.stderr)
		for _, line := range level {
			known[strings.Fields(line)[0]] = true
		}
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		last := len(lines) - 1
		shown = append(shown, lines[last])
		level = nil
		for _, line := range lines[:last] {
			s, err := checker.ParseState(line)
			require.NoError(t, err)
			same := func(other string) bool { return strings.HasPrefix(other, s.Key) }
			if !known[s.Key] && !slices.ContainsFunc(level, same) {
				level = append(level, line)
			}
		}
	}
	results := file("shown", shown)
	got = run(t, "merge", "--states", fmt.Sprint(len(known)), results)
	require.Zero(t, got.exit, got.stderr)
	require.Contains(t, got.stdout, fmt.Sprintf("1 verdict: 1 broken · all as claimed · %d states", len(known)))
	require.Contains(t, run(t, "check", scenario).stdout, fmt.Sprintf("1 broken · all as claimed · %d states", len(known)))

	broken := t.TempDir()
	kept, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.NoError(t, os.WriteFile(filepath.Join(broken, filepath.Base(kept[0])), []byte("["), 0o600))
	for want, args := range map[string][]string{
		"some were lost":             {"merge", "--states", "3", results},
		"is not what expand writes":  {"merge", "--states", "3", file("cut", []string{shown[0][:20]})},
		"has no results of expand":   {"merge", "--states", "0", file("none", nil)},
		"is no state":                {"expand", scenario, "--in", file("bad", []string{"hello"})},
		"not the one that was meant": {"expand", "toy/excl/contend", "--in", file("other", []string{strings.Repeat("0", 32) + " 000.000.000000"})},
		"question about cycles":      {"expand", scenario, "--property", "starvation", "--first"},
		"remove the file":            {"expand", scenario, "--cache", broken, "--first"},
		"no such file":               {"expand", scenario, "--in", filepath.Join(dir, "nowhere")},
		"unknown flag":               {"expand", scenario, "--shard", "0/2"},
		"the last line has no end: it ": {"expand", scenario, "--in", func() string {
			at := filepath.Join(dir, "end")
			require.NoError(t, os.WriteFile(at, []byte("x"), 0o600))
			return at
		}()},
	} {
		got := run(t, args...)
		require.Equal(t, ExitUsage, got.exit, want)
		require.Contains(t, got.stderr, want)
	}
}
