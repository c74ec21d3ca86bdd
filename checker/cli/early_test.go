package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
)

// A counterexample that waits for its final verdict is shown once, and not beside that verdict.
func TestEarlyIsShownOnce(t *testing.T) {
	t.Parallel()
	e := &early{text: "seen", since: time.Now()}
	require.Empty(t, e.due(), "the verdict may come at once")
	e.since = time.Now().Add(-earlyAfter)
	require.Equal(t, "seen", e.due())
	require.Empty(t, e.due())
	e.takeBack()
	require.Contains(t, e.due(), "The schedule above breaks nothing")
	e.text, e.shown = "seen", false
	e.takeBack()
	require.Empty(t, e.due(), "it was not shown")
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
		require.Equal(t, !smallest, strings.Contains(out.String(),
			"UNKNOWN  deadlock\n  why     not decided: another property is broken"), out.String())
	}
}

// Whatever takes long is told by its name.
func TestProgressSaysWhatIsDone(t *testing.T) {
	var g checker.Progress
	g.States = 7
	require.Equal(t, "7 states", doing(g))
	g.Within = &checker.Within{Preemptions: 2}
	require.Equal(t, "holds with up to 2 preemptions; going on: 7 states", doing(g))
	g.Again = true
	require.Equal(t, "looking again at what holds with few preemptions", doing(g))
	g.Draws = 55
	require.Equal(t, "directed and drawn schedules: 0 of 55", doing(g))
	g.Preemptions, g.Place, g.Places = 1, 3, 9
	require.Equal(t, "schedules with 1 preemption: 3 of 9 places", doing(g))
	g.Broken, g.Depth = true, 30
	require.Equal(t, "broken in 30 steps with 1 preemption; looking for a smaller counterexample", doing(g))
}
