package checker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A trace shows who has what open, under which names, and the clock.
func TestTraceShowsDescriptorsAndClock(t *testing.T) {
	sc := fixtures.New("toy/stat/contend", fixtures.StatThenWrite(), scenarios.Setting{Processes: 2, Crashes: 1, Stalls: 1, StallFor: time.Hour})
	s, err := sched.ParseSchedule("A2 ~ A!")
	require.NoError(t, err)
	r, err := Replay(sc, scenarios.MutualExclusion, s)
	require.NoError(t, err)
	w := trace.NewWalk(sc, r.Counterexample.Trace)
	require.Len(t, w.Steps, 4)
	require.Equal(t, []trace.ProcState{{Pid: 101}, {Pid: 102}}, w.Start.Procs)
	start := w.Start.Clock

	second := w.Steps[1].After
	require.Len(t, second.Procs, 2)
	fds := second.Procs[0].FDs
	require.Len(t, fds, 1)
	require.Equal(t, 3, fds[0].FD)
	require.Equal(t, []string{sc.Watch[0]}, fds[0].Paths)
	require.Equal(t, second.Files[0].ID, fds[0].ID)
	require.Empty(t, second.Procs[1].FDs)

	require.Equal(t, start, second.Clock)
	require.Equal(t, start.Add(time.Hour), w.Steps[2].After.Clock)
	require.Equal(t, []trace.ProcState{{Pid: 102}}, w.End().Procs, "A is dead")
}
