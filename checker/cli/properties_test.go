package cli

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
)

// runOwn runs a command that knows scenarios with properties of their own.
func runOwn(args ...string) outcome {
	var stdout, stderr bytes.Buffer
	exit := Run(context.Background(), toys.Properties(), args, &stdout, &stderr, func(string) string { return "" })
	return outcome{exit, stdout.String(), stderr.String()}
}

// A scenario's own property is listed, checked, asked for, explained, saved, replayed and
// split as ours are.
func TestOwnProperties(t *testing.T) {
	fixtures.OnlyAnswers(t)
	t.Parallel()
	o := runOwn("list")
	require.Contains(t, o.stdout, "✗ one-queue")
	o = runOwn("check")
	require.Zero(t, o.exit, o.stderr)
	require.Contains(t, o.stdout, "all as claimed")

	o = runOwn("check", "toy/move-*", "--property", "one-queue", "--json")
	require.Zero(t, o.exit, o.stderr)
	require.Contains(t, o.stdout, `"property": "one-queue"`)
	require.Contains(t, o.stdout, `"judgement": "invariant"`)

	// It may be asked of others too.
	o = runOwn("check", "toy/tickets-*", "--property", "one-queue")
	require.Zero(t, o.exit, o.stderr)
	require.Contains(t, o.stdout, "2 verdicts: 2 hold")
	o = runOwn("check", "--property", "two-queues")
	require.Equal(t, ExitUsage, o.exit)
	require.Contains(t, o.stderr, `unknown property "two-queues": choose one of mutual-exclusion, `)
	require.Contains(t, o.stderr, "starvation, wedge-within-1h, wedge-within-3h, wedge-within-3599999ms, "+
		"tickets-differ, one-queue, writer-starvation")

	// Of a question no change is tried that might mend it, which takes seconds: what goes out instead is asked for.
	dir := t.TempDir()
	for id, args := range map[string][]string{
		"toy/tickets-count/contend": {"tickets-differ"}, "toy/move-link/contend": {"one-queue"},
		"toy/writer-flock/starve": {"writer-starvation", "--markdown", "-"},
	} {
		file := filepath.Join(dir, args[0])
		o = runOwn(append([]string{"explain", id, "--save", file, "--property"}, args...)...)
		require.Zero(t, o.exit, o.stderr)
		require.Contains(t, o.stdout, args[0])
		again := runOwn("replay", file)
		require.Zero(t, again.exit, again.stderr)
		require.Contains(t, again.stdout, "BROKEN  "+args[0])
	}
}
