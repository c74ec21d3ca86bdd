package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios/ctx"
)

// commandLine runs the command line over the scenarios of ctx.
func commandLine(t *testing.T, env map[string]string, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	exit = Run(context.Background(), ctx.Scenarios(), args, &out, &errs, func(k string) string { return env[k] })
	return exit, out.String(), errs.String()
}

// Each question is decided by one shard.
func TestShardsShareTheQuestions(t *testing.T) {
	list := ctx.Scenarios()
	questions := make([]question, 7)
	for i := range questions {
		questions[i].sc = &list[i]
	}
	decided := 0
	for i := range 3 {
		mine, err := part(questions, fmt.Sprintf("%d/3", i), nil)
		require.NoError(t, err)
		require.InDelta(t, 7./3, len(mine), 1)
		for k, q := range mine {
			require.Same(t, questions[i+3*k].sc, q.sc)
		}
		decided += len(mine)
	}
	require.Equal(t, len(questions), decided)
	_, err := part(questions[:1], "1/2", nil)
	require.ErrorContains(t, err, "none is left for this part")
}

func TestShardsOfCheck(t *testing.T) {
	whole := []string{"check", "ctx/excl/contend", "ctx/stat-then-write", "--verbose", "--skip-odds"}
	_, want, _ := commandLine(t, nil, whole...)
	for _, env := range []map[string]string{{bazelIndex: "0", bazelTotal: "2"}, {bazelIndex: "1", bazelTotal: "2"}} {
		exit, out, errs := commandLine(t, env, append(whole, "--shard", "env")...)
		require.Equal(t, ExitAsClaimed, exit, errs)
		require.Contains(t, out, "verdicts: ")
		for l := range strings.Lines(out) {
			if strings.HasPrefix(l, "    ✓") || strings.HasPrefix(l, "    ✗") {
				require.Contains(t, want, l)
			}
		}
	}
}

func TestParseShard(t *testing.T) {
	bazel, gitlab := map[string]string{bazelIndex: "1", bazelTotal: "4"}, map[string]string{gitlabIndex: "1", gitlabTotal: "4"}
	for _, c := range []struct {
		text string
		env  map[string]string
		want string
	}{
		{"0/1", nil, "0/1"}, {"3/8", nil, "3/8"}, {"env", bazel, "1/4"}, {"env", gitlab, "0/4"},
		{"8/8", nil, ""}, {"-1/8", nil, ""}, {"x/8", nil, ""}, {"1", nil, ""}, {"env", nil, ""}, {"env/3", bazel, ""},
		{"env", map[string]string{gitlabIndex: "5", gitlabTotal: "4"}, ""},
	} {
		i, n, err := parseShard(c.text, func(k string) string { return c.env[k] })
		if c.want == "" {
			require.ErrorContains(t, err, "--shard "+c.text)
			continue
		}
		require.NoError(t, err, c.text)
		require.Equal(t, c.want, fmt.Sprintf("%d/%d", i, n))
	}
}
