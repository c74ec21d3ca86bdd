package report

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
)

// Every report of a counterexample can tell of a loss of power.
func TestReportsOfAPowerLoss(t *testing.T) {
	var sc scenarios.Scenario
	for _, s := range toys.All() {
		if s.ID == "toy/excl/crash" {
			sc = s
		}
	}
	sc.Setting.Crashes, sc.Setting.PowerLosses = 0, 1
	r, err := checker.Check(context.Background(), &sc, scenarios.Wedge, checker.Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, "A1 *0", r.Counterexample.Schedule.String())
	var timeline, list, chart bytes.Buffer
	require.NoError(t, Timeline(&timeline, &r, Options{}))
	require.Contains(t, timeline.String(), "the power is lost; the disk is left in state 0")
	require.Contains(t, timeline.String(), "1 power loss")
	require.NotContains(t, timeline.String(), "1 kill")
	require.NoError(t, List(&list, []scenarios.Scenario{sc}, Style{}))
	require.Contains(t, list.String(), "up to 1 power loss")
	require.NoError(t, Markdown(&chart, []checker.Result{r}, Options{}))
	require.NoError(t, JSON(&chart, []checker.Result{r}, Options{}))
	bundle, err := Bundle(&r)
	require.NoError(t, err)
	b, err := ParseBundle(bundle)
	require.NoError(t, err)
	require.Equal(t, r.Counterexample.Schedule, b.Schedule)
	require.Equal(t, 1, b.Setting.PowerLosses)
	require.Contains(t, chart.String(), `"power_losses": 1`)
	require.Contains(t, b.Trace, "2 *0 the power is lost")
}
