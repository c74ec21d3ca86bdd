package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/cli"
	"lockpick/scenarios/all"
)

// Every command of docs/holds.md prints the lines that the page shows below it.
func TestHoldsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/holds.md")
	require.NoError(t, err)
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
			cli.Run(context.Background(), all.All(), strings.Fields(args), &stdout, &stderr, nil)
			out, commands = stdout.String(), commands+1
		case inside:
			require.Contains(t, out, line+"\n")
		}
	}
	require.Equal(t, 4, commands)
}
