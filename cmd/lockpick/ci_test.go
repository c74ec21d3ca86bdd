package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/ctx"
)

// Every command on the page about CI does what the page says: it runs, and writes its files.
func TestDocsOnCI(t *testing.T) {
	testmain.Slow(t, "it checks scenarios for each page", "./cmd/lockpick")
	page, err := os.ReadFile("../../docs/ci.md")
	require.NoError(t, err)
	var list []scenarios.Scenario
	for _, sc := range ctx.Scenarios() {
		if sc.Variant() == "stat-then-write" {
			list = append(list, sc)
		}
	}
	require.NotEmpty(t, list)
	t.Chdir(t.TempDir())
	lines := regexp.MustCompile(`(?m)^\s*\./mylocks (.*)$`).FindAllStringSubmatch(string(page), -1)
	require.Len(t, lines, 3)
	for _, m := range lines {
		args := strings.Fields(m[1])
		var stdout, stderr bytes.Buffer
		exit := cli.Run(context.Background(), list, args, &stdout, &stderr, nil)
		require.Zero(t, exit, "%s: %s", m[1], stderr.String())
		require.Empty(t, stderr.String(), m[1])
		for i, arg := range args {
			switch arg {
			case "--sarif", "--junit", "--markdown", "--html":
				require.FileExists(t, map[bool]string{true: args[i+1] + "/index.html", false: args[i+1]}[arg == "--html"])
			}
		}
	}
}
