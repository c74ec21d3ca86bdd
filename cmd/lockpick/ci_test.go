package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/ctx"
)

// What GitHub's action and the image build and run does so here.
func TestActionAndImage(t *testing.T) {
	testmain.Slow(t, "it builds the command", "./cmd/lockpick")
	testmain.Needs(t, "bash", "./cmd/lockpick")
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	action := filepath.Join(root, ".github/actions/lockpick")
	text, err := os.ReadFile(filepath.Join(action, "action.yml"))
	require.NoError(t, err)
	_, script, found := strings.Cut(string(text), "      run: |\n")
	require.True(t, found)
	cmd := exec.Command("bash", "-ec", script)
	cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+action, "RUNNER_TEMP="+t.TempDir(),
		"LOCKPICK_ARGS=check 'ctx/excl/contend' --quiet")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	text, err = os.ReadFile("../../docs/Dockerfile")
	require.NoError(t, err)
	_, build, found := strings.Cut(string(text), "\nRUN ")
	require.True(t, found)
	build, _, _ = strings.Cut(build, "\n")
	cmd = exec.Command("bash", "-ec", strings.Replace(build, "/lockpick", t.TempDir()+"/lockpick", 1))
	cmd.Dir = root
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	hooks, err := os.ReadFile("../../.pre-commit-hooks.yaml")
	require.NoError(t, err)
	require.Contains(t, string(hooks), "entry: lockpick\n") // language golang installs ./cmd/lockpick by that name
}

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
