package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/internal/testmain"
	"lockpick/scenarios/all"
)

// Every command of docs/holds.md prints the lines that the page shows below it.
func TestHoldsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/holds.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("n", []byte("0\n"), 0o600))
	require.NoError(t, os.WriteFile("counter.sh", []byte("read x < n\necho $((x+1)) > n\n"), 0o600))
	var out string
	commands, inside := 0, false
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(line, "\n")
		args, isCommand := strings.CutPrefix(line, "$ lockpick ")
		switch {
		case line == "```":
			inside = !inside
		case inside && isCommand:
			var stdout, stderr bytes.Buffer
			if runs, ok := strings.CutPrefix(args, "run "); ok {
				testmain.Needs(t, "flock", "./cmd/lockpick")
				args = "run --native off " + runs
			}
			cli.Run(context.Background(), all.All(), strings.Fields(args), &stdout, &stderr, nil)
			if out, commands = stdout.String(), commands+1; strings.HasPrefix(args, "run ") && out == "" {
				testmain.Traced(t, errors.New(stderr.String()), "./cmd/lockpick")
			}
		case inside:
			require.Contains(t, out, line+"\n")
		}
	}
	require.Equal(t, 9, commands)
}
