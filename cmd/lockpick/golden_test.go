package main

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/golden"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
)

// large are the goldens of spaces that take long.
var large = map[string]bool{
	"explain-stall.txt": true, "explain-guarded.txt": true, "explain-starvation.txt": true,
}

// What a person sees of the reported races.
func TestGolden(t *testing.T) {
	for name, line := range map[string]string{
		"list.txt":                       "list",
		"check-ctx.txt":                  "check ctx",
		"check-ctx.json":                 "check ctx --json",
		"check-ctx-verbose.txt":          "check ctx --verbose",
		"check-option-a.json":            "check openclaw-release/option-a/tasks+peer --json",
		"check-gated-unlink.json":        "check agentwire/gated-unlink --json",
		"explain-stat-then-write.txt":    "explain ctx/stat-then-write/contend",
		"explain-stat-then-write-80.txt": "explain ctx/stat-then-write/contend --width 80",
		"explain-duplicate.txt":          "explain ctx/stat-then-write/contend --property duplicate",
		"explain-crash.txt":              "explain ctx/excl-cursor/crash",
		"explain-wedge.txt":              "explain ctx/excl/crash",
		"explain-dead-owner.txt":         "explain ctx/pid-cleanup/dead-owner",
		"explain-lost-update.txt":        "explain gateguard/rmw/contend",
		"explain-stall.txt":              "explain gateguard/lease-rmw/stall --full",
		"explain-tasks.txt":              "explain openclaw-release/original/tasks",
		"explain-option-a.txt":           "explain openclaw-release/option-a/tasks+peer",
		"explain-reentrant.txt":          "explain openclaw-release/option-b-reentrant/tasks+peer",
		"explain-guarded.txt":            "explain openclaw-takeover/guarded/crash",
		"explain-gated-unlink.txt":       "explain agentwire/gated-unlink/contend --skip-odds",
		"explain-owner-info.txt":         "explain agentwire/truncating-open/contend",
		"explain-spurious.txt":           "explain agentwire/probe-by-locking/contend",
		"explain-starvation.txt":         "explain openclaw-takeover/guarded/crash --property starvation",
		"repair-stat-then-write.txt":     "repair ctx/stat-then-write/contend",
		"repair-unlink-after-unlock.txt": "repair gofrs-flock/unlink-after-unlock/contend --verbose",
		"weigh-keep-file.txt":            "weigh gofrs-flock/keep-file/contend",
		"weigh-excl.txt":                 "weigh ctx/excl/crash",
		"weigh-link-owned.txt":           "weigh aidevops/link-owned/crash",
		"check-unclaimed.txt":            "check openclaw-takeover --property starvation --procs 2",
	} {
		t.Run(name, func(t *testing.T) {
			if race.Detector && large[name] {
				t.Skip("SKIPPED under the race detector: a large space, whose workers do as in the small ones; go test ./cmd/lockpick runs it")
			}
			if name == "explain-tasks.txt" || name == "check-unclaimed.txt" {
				testmain.OnlyLong(t, "others explain tasks, and check what is claimed", "./cmd/lockpick")
			}
			if large[name] {
				testmain.Slow(t, "a large space", "./cmd/lockpick")
			}
			var stdout, stderr bytes.Buffer
			exit := cli.Run(context.Background(), all.All(), strings.Fields(line), &stdout, &stderr, nil)
			require.Zero(t, exit, stderr.String())
			if strings.HasPrefix(name, "list.") { // which says that the corpus is left out
				require.Contains(t, stderr.String(), "the pattern '*' selects all")
			} else {
				require.Empty(t, stderr.String())
			}
			golden.Check(t, name, withoutLines(stdout.String()))
		})
	}
}

// withoutLines takes the numbers of lines of the source out of JSON: they change with every
// edit of a scenario.
func withoutLines(text string) string {
	return regexp.MustCompile(`"line": \d+`).ReplaceAllString(text, `"line": 0`)
}
