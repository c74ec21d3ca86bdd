package report

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A child that has a lock from its parent is named only once the parent has let go of it. Its exit is not its parent's.
func TestHoldersOfALockThatAChildInherits(t *testing.T) {
	sc := &scenarios.Scenario{ID: "toy/fork", Watch: []string{"/l"}, Setting: scenarios.Setting{Processes: 1}}
	m := sc.NewMachine()
	var tr trace.Trace
	parent := fsfake.Task{Pid: scenarios.Pid(0), N: 1}
	do := func(by fsfake.Task, op fsfake.Op) {
		task := sched.Task{N: 1}
		call := trace.Call{By: by, Op: op, Result: m.Do(by, op)}
		require.True(t, call.Result.OK())
		tr = append(tr, trace.Step{N: len(tr) + 1, Choice: sched.Choice{Task: task}, Calls: []trace.Call{call},
			After: m.Clone()})
	}
	do(parent, fsfake.Op{Call: fsfake.CallOpen, Path: "/l", Flags: os.O_CREATE | os.O_RDWR, Mode: 0o644})
	do(parent, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX})
	do(parent, fsfake.Op{Call: fsfake.CallFork})
	do(parent, fsfake.Op{Call: fsfake.CallClose, FD: 3})
	child := fsfake.Task{Pid: int(tr[2].Calls[0].Result.N), N: 1}
	do(child, fsfake.Op{Call: fsfake.CallExit})
	var cells []string
	chart := newRunChart(sc, &trace.Counterexample{Trace: tr})
	for _, row := range chart.Rows {
		cells = append(cells, row.Files[0].Text)
	}
	require.Equal(t, []string{"#1 empty", "#1 empty flock A", "#1 empty flock A", "#1 empty flock a child of A",
		"#1 empty"}, cells)
	require.Equal(t, "a child exits", chart.Rows[4].Calls[0].Call)
}

// Which of its tasks a program goes on with is told by the call alone, unless there is none.
func TestChosenCallIsOneRow(t *testing.T) {
	sc := &scenarios.Scenario{ID: "toy/choice", Setting: scenarios.Setting{Processes: 1}}
	m := sc.NewMachine()
	choice := trace.Call{Op: fsfake.Op{Call: fsfake.CallChoose, Len: 2}}
	look := fsfake.Op{Call: fsfake.CallStat, Path: "/"}
	call := trace.Call{Op: look, Result: m.Do(fsfake.Task{Pid: scenarios.Pid(0), N: 1}, look)}
	a := sched.Task{Process: 0, N: 1}
	tr := trace.Trace{
		{N: 1, Choice: sched.Choice{Task: a}, Calls: []trace.Call{choice, call}, After: m},
		{N: 2, Choice: sched.Choice{Task: a}, Calls: []trace.Call{choice}, After: m},
	}
	chart := newRunChart(sc, &trace.Counterexample{Trace: tr})
	require.Len(t, chart.Rows[0].Calls, 1)
	require.Contains(t, chart.Rows[0].Calls[0].Call, "stat")
	require.Len(t, chart.Rows[1].Calls, 1)
}
