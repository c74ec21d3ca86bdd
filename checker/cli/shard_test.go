package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios/ctx"
)

// command runs the command line over the scenarios of ctx.
func commandLine(t *testing.T, env map[string]string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	exit = Run(context.Background(), ctx.Scenarios(), args, &out, &errs, func(k string) string { return env[k] })
	return exit, out.String(), errs.String()
}

func TestShardsAndMerge(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for i, env := range []map[string]string{{jobIndex: "0"}, {jobIndex: "1"}, nil} {
		file := filepath.Join(dir, string(rune('a'+i))+".json")
		shard := "env/3"
		if env == nil {
			shard = "2/3"
		}
		exit, out, errs := commandLine(t, env, "check", "--crashes", "1", "--shard", shard, "--out", file, "ctx/excl/contend", "ctx/stat-then-write")
		require.Equal(t, ExitAsClaimed, exit, errs)
		require.Empty(t, out)
		files = append(files, file)
	}
	whole := []string{"check", "--crashes", "1", "ctx/excl/contend", "ctx/stat-then-write", "--quiet"}
	exit, out, _ := commandLine(t, nil, append([]string{"merge", "--quiet"}, files...)...)
	wantExit, wantOut, _ := commandLine(t, nil, whole...)
	require.Equal(t, wantExit, exit)
	require.Equal(t, firstLine(wantOut), firstLine(out))

	exit, out, _ = commandLine(t, nil, append([]string{"merge", "--json"}, files[:2]...)...)
	require.Equal(t, ExitUnknown, exit)
	require.Contains(t, out, "shard 2 of 3 is missing")

	other := filepath.Join(dir, "other.json")
	exit, _, _ = commandLine(t, nil, "check", "--stalls", "2", "--stall-for", "5m", "--shard", "2/3", "--out", other, "ctx/excl/contend", "ctx/stat-then-write")
	require.Equal(t, ExitAsClaimed, exit)
	exit, _, errs := commandLine(t, nil, "merge", files[0], files[1], other)
	require.Equal(t, ExitUsage, exit)
	require.Contains(t, errs, "shard 2 of ctx/stat-then-write/contend was explored in another setting: crashes 0, not 1, stalls 2, not 0, stall-for 5m0s, not 0s; explore all shards in one")
	none := filepath.Join(dir, "none.json")
	require.NoError(t, os.WriteFile(none, []byte(`{"version": 3, "results": []}`), 0o644))
	exit, _, errs = commandLine(t, nil, "merge", none)
	require.Equal(t, ExitUsage, exit)
	require.Contains(t, errs, "none.json has no results")
	exit, _, errs = commandLine(t, nil, "merge", files[0], files[0])
	require.Equal(t, ExitUsage, exit)
	require.Contains(t, errs, "twice")
	broken := filepath.Join(dir, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte("{}{}"), 0o644))
	exit, _, errs = commandLine(t, nil, "merge", broken)
	require.Equal(t, ExitUsage, exit)
	require.Contains(t, errs, "not a result")
}

// firstLine leaves out the count of states, which parts count twice.
func firstLine(s string) string { l, _, _ := strings.Cut(s, " · all as claimed"); return l }

func TestParseShard(t *testing.T) {
	bazel := map[string]string{bazelIndex: "1", bazelTotal: "4"}
	for _, c := range []struct {
		text string
		env  map[string]string
		want string
	}{
		{"0/1", nil, "0/1"}, {"3/8", nil, "3/8"}, {"env", bazel, "1/4"}, {"env/9", map[string]string{jobIndex: "7"}, "7/9"},
		{"8/8", nil, ""}, {"-1/8", nil, ""}, {"x/8", nil, ""}, {"1", nil, ""}, {"env", nil, ""}, {"env/3", nil, ""},
		{"env/3", map[string]string{jobIndex: "3"}, ""},
	} {
		s, err := parseShard(c.text, func(k string) string { return c.env[k] })
		if c.want == "" {
			require.ErrorContains(t, err, "--shard "+c.text)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, string(rune('0'+s.Index))+"/"+string(rune('0'+s.Of)))
	}
}
