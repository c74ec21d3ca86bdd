package cli

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A counterexample that waits for its final verdict is shown once, and not beside that verdict.
func TestEarlyIsShownOnce(t *testing.T) {
	t.Parallel()
	e := &early{text: "seen", since: time.Now()}
	require.Empty(t, e.due(), "the verdict may come at once")
	e.since = time.Now().Add(-earlyAfter)
	require.Equal(t, "seen", e.due())
	require.Empty(t, e.due())
	e.text = "seen"
	e.over()
	require.Empty(t, e.due())
	require.Equal(t, ExitUnknown, e.exit())
	e.broken(true)
	e.broken(false)
	require.Equal(t, ExitDiffers, e.exit(), "what was shown as broken stays so")
}

// A run that is stopped is unknown, exit 3, and no error.
func TestRunThatIsStopped(t *testing.T) {
	file := raceFile(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := runIn(ctx, nil, "run", file)
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	require.Contains(t, got.stdout, "UNKNOWN  serializable")
	require.Contains(t, got.stdout, "it was stopped")
	require.Contains(t, got.stdout, "UNKNOWN  deadlock")
}
