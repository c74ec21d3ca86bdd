package cli

import (
	"bytes"
	"context"
	"strings"
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

// Who gives no time waits a minute for a worse or a smaller counterexample, and for the answers to other questions, and
// not for as long as a search takes.
func TestFurther(t *testing.T) {
	file := raceFile(t)
	for further, smallest := range map[time.Duration]bool{-1: false, time.Hour: true} {
		var out bytes.Buffer
		a := &app{stdout: &out, stderr: &out, env: func(string) string { return "" }, further: further}
		require.Equal(t, ExitDiffers, a.run(t.Context(), []string{"run", "--native", "off", file}), out.String())
		require.Equal(t, smallest, strings.Contains(out.String(), "no smaller"), out.String())
		require.Equal(t, smallest, strings.Contains(out.String(), "HOLDS  deadlock"), out.String())
		require.Equal(t, !smallest, strings.Contains(out.String(), "another property is broken"), out.String())
	}
}
