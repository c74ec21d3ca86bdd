package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/trace"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/sched"
)

func TestPowerLossVerdicts(t *testing.T) {
	fixtures.OnlyAnswers(t)
	smallest := map[string]string{
		"toy/save/power torn-read":             "A4 *1 B3",
		"toy/save-file-synced/power torn-read": "A5 *1 B3",
		"toy/save-dir-synced/power torn-read":  "A4 *1 B3",
		"toy/guarded/power lost-update":        "A3 *1 B4",
		"toy/excl/power wedge":                 "A1 *0",
		"toy/excl-wait/power wedge":            "A1 *0",
		"toy/stat/reboot mutual-exclusion":     "A1 B4 A3",
		"toy/flock-twice/reboot deadlock":      "A3 B4 A1",
	}
	requireSmallest(t, lossToys(), smallest)
}

func TestEnginesAgreeOnPowerLoss(t *testing.T) {
	testmain.Slow(t, "it asks every engine about losses of power", "./checker")
	t.Parallel()
	enginesAgreeOn(t, lossToys())
}

// The trace of the empty file after a rename, step by step.
func TestPowerLossTrace(t *testing.T) {
	sc := lossToys()[0]
	s, err := sched.ParseSchedule("A4 *1 B3")
	require.NoError(t, err)
	r, err := Replay(sc, scenarios.TornRead, s)
	require.NoError(t, err)
	var b strings.Builder
	for _, st := range trace.NewWalk(sc, r.Counterexample.Trace).Steps {
		fmt.Fprintf(&b, "%d %s", st.N, st.Choice)
		for _, c := range st.Calls {
			fmt.Fprintf(&b, " %s", c.Op)
		}
		fmt.Fprintf(&b, ": %s %q, %d running\n", word, st.After.Files[0].Content, len(st.After.Procs))
	}
	for _, op := range r.Counterexample.History {
		fmt.Fprintf(&b, "%d: %v %v\n", op.ClientId, op.Input, op.Output)
	}
	require.Equal(t, cut(`
		1 A1 open /word.new O_WRONLY|O_CREAT|O_EXCL: /word "old", 1 running
		2 A1 write fd 3 "new": /word "old", 1 running
		3 A1 close fd 3: /word "old", 1 running
		4 A1 rename /word.new /word: /word "new", 1 running
		5 *1: /word "", 1 running
		6 B1 open /word: /word "", 1 running
		7 B1 read fd 3: /word "", 1 running
		8 B1 close fd 3: /word "", 1 running
		0: write("new") written
		2: crash(A) dead
		1: read "empty"
	`), b.String())
	require.Equal(t, trace.Cost{Crashes: 1, Steps: 7}, r.Counterexample.Cost)
	require.Equal(t, "The power was lost at step 5, before all was synced: word (inode 2) was empty after that, as nobody had synced it after the write at step 2.", r.Counterexample.Cause)

	_, err = Replay(sc, scenarios.TornRead, append(s[:4:4], sched.Choice{Action: sched.PowerLoss, State: 7}))
	require.ErrorContains(t, err, "step 5 of the schedule (*7) cannot happen: the disk has 7 legal states then")
	_, err = Replay(sc, scenarios.TornRead, sched.Schedule{{Action: sched.Run, Task: sched.Task{Process: 1, N: 1}}})
	require.ErrorContains(t, err, "cannot happen")
}

func cut(text string) string {
	return strings.ReplaceAll(strings.TrimLeft(text, "\n\t"), "\t", "")
}

func TestPowerLossSettings(t *testing.T) {
	for want, st := range map[string]scenarios.Setting{
		"power-losses 2: choose 0 to 1": {Processes: 2, PowerLosses: 2},
		"PowerLosses is 0":              {Processes: 2, Reboot: []int{1}},
		"nobody runs before":            {Processes: 1, PowerLosses: 1, Reboot: []int{0}},
		"process number 2 is out of":    {Processes: 2, PowerLosses: 1, Reboot: []int{2}},
		"process number 1 is out of":    {Processes: 3, PowerLosses: 1, Reboot: []int{1, 1}},
	} {
		require.ErrorContains(t, fixtures.New("toy/excl/bad", fixtures.Excl(), st).Validate(), want)
	}
	sc := lossToys()[0]
	_, err := sc.WithProcesses(3)
	require.Error(t, err)
	m := sc.NewMachine()
	require.Equal(t, []int{1, 101}, m.Pids())
	l, err := sc.Losses(m, scenarios.TornRead)
	require.NoError(t, err)
	sc.LosePower(m, l, 0)
	require.Equal(t, []int{1, 102}, m.Pids())
}
