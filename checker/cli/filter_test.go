package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios/all"
)

// runAll runs a command line for the scenarios that come along.
func runAll(args string) outcome { return runAllArgs(strings.Fields(args)) }

func runAllArgs(args []string) outcome {
	var stdout, stderr bytes.Buffer
	exit := Run(context.Background(), all.All(), args, &stdout, &stderr, nil)
	return outcome{exit, stdout.String(), stderr.String()}
}

// Filters choose among all scenarios, several at once, with or without a pattern, and list
// and check have the same.
func TestFilters(t *testing.T) {
	for _, c := range []struct {
		args string
		has  []string
		not  []string
	}{
		{"list --shape lease", []string{"renew-by-fd/late-renewal", "lease-rmw/stall"}, []string{"excl/contend"}},
		{"list --hazard stall --verdict holds", []string{"renew-by-fd/late-renewal"}, []string{"renew-by-rename", "lease-rmw"}},
		{"list --project pytorch --property wedge", []string{"wait-until-gone/crash"}, []string{"soft-"}},
		{"list --project PyTorch", []string{"soft-rename-aside", "wait-until-gone/crash"}, nil},
		{"list --project tox-dev/FileLock --property owner-info", []string{"unix-truncating-open/ask"}, []string{"soft-"}},
		{"list ctx --hazard crash --property wedge", []string{"excl/crash", "✗ wedge"}, []string{"mutual-exclusion", "gateguard"}},
		{"check gunicorn --hazard pid-reuse", []string{"recycled-pid", "2 verdicts: 1 broken, 1 holds"}, nil},
		{"check gunicorn --hazard pid-reuse --verdict broken", []string{"check-then-rename", "1 verdict: 1 broken"}, []string{"start-token"}},
	} {
		got := runAll(c.args)
		require.Zero(t, got.exit, "%s: %s", c.args, got.stderr)
		require.Empty(t, got.stderr, c.args)
		for _, text := range c.has {
			require.Contains(t, got.stdout, text, c.args)
		}
		for _, text := range c.not {
			require.NotContains(t, got.stdout, text, c.args)
		}
	}
}

func TestFiltersRefuse(t *testing.T) {
	for args, want := range map[string]string{
		"list --shape leas":                      `no scenario has the shape "leas": did you mean lease?`,
		"list --hazard x":                        `no scenario has the hazard "x": choose one of clock, contention, crash`,
		"list --project nobody/nothing":          "docs/reference lists them",
		"list --verdict maybe":                   `--verdict "maybe": choose holds or broken`,
		"check --verdict maybe":                  `--verdict "maybe": choose holds or broken`,
		"list --property wedg":                   `unknown property "wedg": did you mean wedge?`,
		"list ctx --shape lease":                 "no scenario fits all of these filters: leave one out",
		"check --shape lease --hazard host-name": "no scenario fits all of these filters",
	} {
		got := runAll(args)
		require.Equal(t, ExitUsage, got.exit, args)
		require.Contains(t, got.stderr, want, args)
		require.Empty(t, got.stdout, args)
	}
	got := run(t, "list", "--shape", "lease")
	require.Contains(t, got.stderr, `no scenario has the shape "lease", or any: scenarios.Entry says what it is`)
}

// A long list is a line for each scenario, and says how to choose; a short one tells what
// each does. What is decided when nothing is chosen is the core, and a note says so.
func TestLongListsAreShort(t *testing.T) {
	got := runAll("list *")
	n := len(all.All())
	require.Less(t, strings.Count(got.stdout, "\n"), 2*n)
	require.Contains(t, got.stdout, "A list of up to 60 says what each does")
	require.Contains(t, runAll("list ctx").stdout, "One open creates the lock or fails.")
	require.Contains(t, runAll("list").stderr, "the pattern '*' selects all")
}
