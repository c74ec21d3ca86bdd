package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every file format may be asked for at once, and the matrix is still printed.
func TestFileFormats(t *testing.T) {
	dir := t.TempDir()
	md, xml, sarif := filepath.Join(dir, "r.md"), filepath.Join(dir, "r.xml"), filepath.Join(dir, "r.sarif")
	plain := run(t, "check", "toy/wrong")
	got := run(t, "check", "toy/wrong", "--markdown", md, "--junit", xml, "--sarif", sarif)
	require.Equal(t, plain, got)
	require.Equal(t, ExitDiffers, got.exit)
	for file, want := range map[string]string{md: "```mermaid", xml: "<failure ", sarif: `"level": "error"`} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), want)
	}
	bad := run(t, "check", "toy/wrong", "--junit", filepath.Join(dir, "no", "such"))
	require.Equal(t, ExitUsage, bad.exit)
	require.Contains(t, bad.stderr, "--junit: open ")
}

// On GitHub a run is annotated unasked, on standard error, so that JSON stays JSON.
func TestGitHubAnnotations(t *testing.T) {
	const command = "::error title=toy/wrong/contend%3A mutual-exclusion is broken%2C and the claim is%3A holds::"
	actions := map[string]string{"GITHUB_ACTIONS": "true"}
	got := runIn(context.Background(), actions, "check", "toy/wrong", "--json")
	require.True(t, strings.HasPrefix(got.stderr, command), got.stderr)
	require.Equal(t, 1, strings.Count(got.stderr, "\n"))
	require.True(t, strings.HasPrefix(got.stdout, "{"), got.stdout)
	require.Contains(t, run(t, "check", "toy/wrong", "--github").stderr, command)
	require.Empty(t, runIn(context.Background(), actions, "check", "toy/wrong", "--github=false").stderr)
	require.Empty(t, runIn(context.Background(), actions, "check", "toy/excl/contend").stderr)
}

func TestExplainPictures(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.svg")
	got := run(t, "explain", "toy/look/contend", "--svg", file, "--markdown")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, "```mermaid\nsequenceDiagram\n")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "<svg ")
	none := run(t, "explain", "toy/excl/contend", "--svg", file)
	require.Equal(t, ExitUsage, none.exit)
	require.Contains(t, none.stderr, "there is no counterexample to draw")
}
