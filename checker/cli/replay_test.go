package cli

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
)

// replayWith replays a file over a list of scenarios.
func replayWith(list []scenarios.Scenario, file string) outcome {
	var out, errs strings.Builder
	exit := Run(context.Background(), list, []string{"replay", file}, &out, &errs, nil)
	return outcome{exit, out.String(), errs.String()}
}

// A saved schedule is aligned by its calls when the protocol makes one more; when it
// breaks nothing any more, the answer says whether another one does.
func TestReplayOfAChangedProtocol(t *testing.T) {
	fixtures.OnlyAnswers(t)
	file := filepath.Join(t.TempDir(), "race.txtar")
	require.Zero(t, run(t, "explain", "toy/look/contend", "--save", file).exit)

	list := toys.All()
	program := list[0].Program
	list[0].Program = func(process, task int) scenarios.Program {
		return func(t *scenarios.Task) {
			_, _ = t.Stat("/elsewhere")
			program(process, task)(t)
		}
	}
	got := replayWith(list, file)
	require.Equal(t, ExitAsClaimed, got.exit)
	require.Equal(t, "lockpick: the protocol makes other calls than when "+file+" was saved: aligned by them, the schedule is A2 B5 A3\n", got.stderr)
	require.Contains(t, got.stdout, "toy/look/contend  BROKEN  mutual-exclusion")
	require.Contains(t, got.stdout, "replay  lockpick replay toy/look/contend 'A2 B5 A3'")

	list[0].Program = list[1].Program // the fix
	got = replayWith(list, file)
	require.Equal(t, ExitDiffers, got.exit)
	require.Contains(t, got.stdout, "NOT BROKEN BY THIS SCHEDULE")
	require.Contains(t, got.stdout, "holds   No schedule of 2 processes breaks mutual-exclusion: 63 states")

	list[0].Program = program
	list[0].Setting.Mortal = []int{1}
	list[0].Setting.Crashes = 1
	got = replayWith(list, file)
	require.Equal(t, ExitAsClaimed, got.exit, "a bundle has its own bounds")
	require.Contains(t, got.stdout, "\n2 processes · 2 preemptions")

	list[0].Setting.Daemons = true
	got = replayWith(list, file)
	require.Contains(t, got.stderr, file+" was saved with daemons no, the scenario now has yes")
}
