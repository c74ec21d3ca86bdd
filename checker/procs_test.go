package checker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A trace shows who has what open, under which names, and the clock.
func TestTraceShowsDescriptorsAndClock(t *testing.T) {
	sc := toy("toy/stat/contend", toyStatThenWrite(), scenarios.Setting{Processes: 2, Crashes: 1, Stalls: 1, StallFor: time.Hour})
	first, start := trace.ProcsAtFirst(sc)
	require.Equal(t, []trace.ProcState{{Pid: 101}, {Pid: 102}}, first)

	s, err := sched.ParseSchedule("A2 ~ A!")
	require.NoError(t, err)
	r, err := Replay(sc, scenarios.MutualExclusion, s)
	require.NoError(t, err)
	tr := r.Counterexample.Trace
	require.Len(t, tr, 4)

	require.Len(t, tr[1].Procs, 2)
	fds := tr[1].Procs[0].FDs
	require.Len(t, fds, 1)
	require.Equal(t, 3, fds[0].FD)
	require.Equal(t, []string{sc.Watch[0]}, fds[0].Paths)
	require.Equal(t, tr[1].Files[0].ID, fds[0].ID)
	require.Empty(t, tr[1].Procs[1].FDs)

	require.Equal(t, start, tr[1].Clock)
	require.Equal(t, start.Add(time.Hour), tr[2].Clock)
	require.Equal(t, []trace.ProcState{{Pid: 102}}, tr[3].Procs, "A is dead")
}
