package trace_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

var (
	a  = sched.Task{Process: 0, N: 1}
	a2 = sched.Task{Process: 0, N: 2}
	b  = sched.Task{Process: 1, N: 1}
)

// A script is a run made by hand.
type script struct {
	t  *testing.T
	sc *scenarios.Scenario
	m  *fsfake.Machine
	tr trace.Trace
}

func newScript(t *testing.T) *script {
	sc := &scenarios.Scenario{
		ID: "toy/script/walk", Watch: []string{"/run/lock"},
		Setting: scenarios.Setting{Processes: 2, Tasks: []int{2, 1}},
		Setup: func(m *fsfake.Machine) {
			if err := m.Proc(1).Mkdir("/run", 0o755); err != nil {
				panic(err)
			}
		},
	}
	return &script{t: t, sc: sc, m: sc.NewMachine()}
}

// do makes one call, as a step.
func (s *script) do(t sched.Task, op fsfake.Op) fsfake.Result {
	r := s.m.Do(fsfake.Task{Pid: trace.PidOf(t), N: t.N}, op)
	require.Empty(s.t, r.Unmodelled)
	s.step(sched.Choice{Task: t}, trace.Call{Op: op, Result: r})
	return r
}

func (s *script) kill(process int) {
	s.m.KillProc(scenarios.Pid(process))
	s.step(sched.Choice{Action: sched.Kill, Task: sched.Task{Process: process}})
}

func (s *script) step(c sched.Choice, calls ...trace.Call) {
	s.tr = append(s.tr, trace.Step{N: len(s.tr) + 1, Choice: c, Calls: calls, After: s.m.Clone()})
}

func (s *script) walk() *trace.Walk { return trace.NewWalk(s.sc, s.tr) }

func open(path string, flags int) fsfake.Op {
	return fsfake.Op{Call: fsfake.CallOpen, Path: path, Flags: flags, Mode: 0o644}
}

func onFD(c fsfake.Call, fd int) fsfake.Op { return fsfake.Op{Call: c, FD: fd} }

func named(c fsfake.Call, paths ...string) fsfake.Op {
	op := fsfake.Op{Call: c, Path: paths[0]}
	if len(paths) > 1 {
		op.Path2 = paths[1]
	}
	return op
}

const excl = os.O_CREATE | os.O_EXCL | os.O_RDWR

// A descriptor is known by the open that made it: also its duplicate, one that a child
// has inherited, one that another task uses, and one whose number was used before.
func TestWalkFollowsDescriptions(t *testing.T) {
	s := newScript(t)
	s.do(a, open("/run/lock", excl))                              // 1: fd 3
	s.do(a, onFD(fsfake.CallDup, 3))                              // 2: fd 4
	s.do(a, onFD(fsfake.CallClose, 3))                            // 3
	s.do(a, open("/run/other", excl))                             // 4: fd 3 again
	s.do(a2, fsfake.Op{Call: fsfake.CallWrite, FD: 4, Data: "x"}) // 5
	s.do(a, fsfake.Op{Call: fsfake.CallFork})                     // 6: pid 103
	s.do(a, onFD(fsfake.CallFstat, 3))                            // 7
	s.do(b, onFD(fsfake.CallFstat, 3))                            // 8: not open
	w := s.walk()

	dup, written := w.Steps[1].Targets[0][0], w.Steps[4].Targets[0][0]
	for _, target := range []trace.Target{dup, w.Steps[2].Targets[0][0], written} {
		require.Equal(t, "/run/lock", target.Path)
		require.True(t, target.ByFD)
		require.Equal(t, trace.Opened{Step: 1, Task: a, Path: "/run/lock", Flags: excl}, target.Opened)
		require.Equal(t, 1, w.Inodes.Of(target.ID))
	}
	require.Equal(t, "", written.Before.Content)
	require.Equal(t, "x", written.After.Content)
	require.Equal(t, 4, w.Steps[6].Targets[0][0].Opened.Step)
	require.Empty(t, w.Steps[7].Targets[0])

	procs := w.End().Procs
	require.Len(t, procs, 3)
	require.Equal(t, 103, procs[2].Pid)
	require.Equal(t, "a child of A", w.Who(103))
	require.Equal(t, "B", w.Who(102))
	require.Equal(t, "pid 99", w.Who(99))
	require.Equal(t, 1, procs[2].FDs[1].Opened.Step, "the child has A's lock open")
	require.Equal(t, []string{"/run/lock"}, procs[2].FDs[1].Paths)
}

// A name that begins at the descriptor of a directory is told by the name that the directory has then; the trace itself
// stays as it is.
func TestWalkTellsNamesAtDescriptors(t *testing.T) {
	s := newScript(t)
	s.do(a, open("/run", os.O_RDONLY))
	s.do(a, open("/proc/self/fd/3/lock", excl))
	s.do(a, named(fsfake.CallSymlink, "/run/link", "/proc/self/fd/3/lock"))
	s.do(b, named(fsfake.CallRename, "/run", "/moved"))
	s.do(a, named(fsfake.CallRename, "/proc/self/fd/3/lock", "/proc/self/fd/3/aside"))
	steps := s.walk().Steps
	require.Equal(t, "/run/lock", steps[1].Calls[0].Op.Path)
	require.Equal(t, "/proc/self/fd/3/lock", steps[2].Calls[0].Op.Path2, "it is a text")
	require.Equal(t, "/moved/lock", steps[4].Calls[0].Op.Path)
	require.Equal(t, "/moved/aside", steps[4].Calls[0].Op.Path2)
	require.Equal(t, "/proc/self/fd/3/lock", s.tr[1].Calls[0].Op.Path)
}

// What a step does to the disk is told by name, also at names that nobody watches.
func TestWalkTellsChanges(t *testing.T) {
	s := newScript(t)
	s.do(a, open("/run/lock", excl))
	s.do(a, fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "101"})
	s.do(b, open("/run/lock", os.O_RDWR|os.O_TRUNC))
	s.do(b, open("/run/lock", os.O_RDWR|os.O_TRUNC))
	s.m.Advance(time.Second)
	s.do(b, fsfake.Op{Call: fsfake.CallFutimes, FD: 3, Time: s.m.Now().UnixNano(), Time2: s.m.Now().UnixNano()})
	s.do(b, named(fsfake.CallLink, "/run/lock", "/run/second"))
	s.do(b, named(fsfake.CallRename, "/run/lock", "/run/aside"))
	s.do(b, named(fsfake.CallMkdir, "/run/lock"))
	s.do(b, named(fsfake.CallRmdir, "/run/lock"))
	s.do(b, named(fsfake.CallSymlink, "/run/lock", "102"))
	s.do(b, named(fsfake.CallRename, "/run/aside", "/run/lock"))
	s.do(b, named(fsfake.CallUnlink, "/run/second"))
	s.do(b, named(fsfake.CallUnlink, "/run/lock"))
	s.do(a, fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "late"})
	s.do(a, named(fsfake.CallUnlink, "/run/lock"))

	kinds := map[trace.ChangeKind]string{
		trace.Created: "created", trace.Linked: "linked", trace.RenamedHere: "renamed here", trace.Replaced: "replaced",
		trace.Unlinked: "unlinked", trace.RenamedAway: "renamed away", trace.Wrote: "wrote", trace.Emptied: "emptied",
		trace.Truncated: "truncated", trace.Touched: "touched",
	}
	var got []string
	for _, st := range s.walk().Steps {
		line := fmt.Sprintf("%d %s:", st.N, st.Calls[0].Op.Call)
		for _, c := range st.Changes {
			line += fmt.Sprintf(" %q %s %q %s %s;", c.Path, kinds[c.Kind], c.Other, c.Before.Kind, c.After.Kind)
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		`1 open: "/run/lock" created "" none file;`,
		`2 write: "/run/lock" wrote "" file file;`,
		`3 open: "/run/lock" emptied "" file file;`,
		`4 open: "/run/lock" truncated "" file file;`,
		`5 futimes: "/run/lock" touched "" file file;`,
		`6 link: "/run/second" linked "/run/lock" none file;`,
		`7 rename: "/run/lock" renamed away "/run/aside" file none; "/run/aside" renamed here "/run/lock" none file;`,
		`8 mkdir: "/run/lock" created "" none directory;`,
		`9 rmdir: "/run/lock" unlinked "" directory none;`,
		`10 symlink: "/run/lock" created "" none symlink;`,
		`11 rename: "/run/aside" renamed away "/run/lock" file none; "/run/lock" replaced "/run/aside" symlink file;`,
		`12 unlink: "/run/second" unlinked "" file none;`,
		`13 unlink: "/run/lock" unlinked "" file none;`,
		`14 write: "" wrote "" file file;`,
		`15 unlink:`,
	}, got)
}

// Names are themselves: what a symlink leads to is what a call reaches.
func TestWalkSymlink(t *testing.T) {
	s := newScript(t)
	s.do(a, open("/run/target", excl))
	s.do(a, named(fsfake.CallSymlink, "/run/lock", "target"))
	s.do(b, named(fsfake.CallStat, "/run/lock"))
	s.do(b, named(fsfake.CallLstat, "/run/lock"))
	s.do(b, open("/run/lock", os.O_RDWR))
	s.do(b, named(fsfake.CallUnlink, "/run/lock"))
	w := s.walk()
	file, link := w.Steps[0].Targets[0][0].ID, w.Steps[1].After.File("/run/lock").ID
	require.NotEqual(t, file, link)
	require.Equal(t, fsfake.KindSymlink, w.Steps[1].After.Files[0].Kind)
	require.Equal(t, "target", w.Steps[1].After.Files[0].Target)
	require.Equal(t, file, w.Steps[2].Targets[0][0].ID)
	require.Equal(t, link, w.Steps[3].Targets[0][0].ID)
	require.Equal(t, file, w.Steps[4].Targets[0][0].ID)
	require.Equal(t, link, w.Steps[5].Targets[0][0].ID)
}

// Who waits, for what, and for whom.
func TestWalkTellsWaits(t *testing.T) {
	s := newScript(t)
	s.do(a, open("/run/lock", excl))
	s.do(b, open("/run/lock", os.O_RDWR))
	s.do(a, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX})
	lock := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}
	s.do(b, lock)
	s.do(a2, fsfake.Op{Call: fsfake.CallCellWait, Cell: "held"})
	s.do(a, onFD(fsfake.CallDup, 3))
	s.kill(0)
	w := s.walk()
	waits := w.Steps[5].After.Waits
	require.Len(t, waits, 2)
	require.Equal(t, trace.Blocked{Task: a2, By: fsfake.Task{Pid: 101, N: 2}, Call: fsfake.Op{Call: fsfake.CallCellWait, Cell: "held"}}, waits[0])
	require.Equal(t, b, waits[1].Task)
	require.Equal(t, 1, w.Inodes.Of(waits[1].On))
	require.Equal(t, []fsfake.FDRef{{Pid: 101, FD: 3}, {Pid: 101, FD: 4}}, waits[1].For)
	require.Len(t, w.End().Waits, 1, "the dead wait for nothing")
	require.Empty(t, w.End().Waits[0].For, "and have nothing")
	require.Equal(t, []trace.Ended{{Process: 0, Step: 7, How: sched.Kill}}, w.End().Ended)
	require.Empty(t, w.Steps[2].Before.InTheWay(fsfake.Task{Pid: 101, N: 1}, lock))
	require.Equal(t, []fsfake.FDRef{{Pid: 101, FD: 3}}, w.Steps[3].Before.InTheWay(fsfake.Task{Pid: 102, N: 1}, lock))
}

// A task whose program waits in a child waits, too, and for what stands in the child's way.
func TestWalkTellsWaitingChildren(t *testing.T) {
	s := newScript(t)
	child := func(by int, op fsfake.Op) fsfake.Result {
		who := fsfake.Task{Pid: by, N: 1}
		r := s.m.Do(who, op)
		require.Empty(t, r.Unmodelled)
		s.step(sched.Choice{Task: b}, trace.Call{Op: op, Result: r, By: who})
		return r
	}
	lock := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}
	s.do(a, open("/run/lock", excl))
	s.do(a, lock)
	pid := int(s.do(b, fsfake.Op{Call: fsfake.CallFork}).N)
	child(pid, open("/run/lock", os.O_RDWR))
	require.True(t, child(pid, lock).Blocked)
	w := s.walk()
	require.Equal(t, "a child of B", w.Who(pid))
	waits := w.End().Waits
	require.Len(t, waits, 1)
	require.Equal(t, b, waits[0].Task)
	require.Equal(t, 1, w.Inodes.Of(waits[0].On))
	require.Equal(t, []fsfake.FDRef{{Pid: 101, FD: 3}}, waits[0].For)
	s.do(a, onFD(fsfake.CallClose, 3))
	require.Empty(t, s.walk().End().Waits[0].For, "nothing stands in its way any more")
}

// Variables are listed in the order of their first stores, with their last values.
func TestWalkTellsCells(t *testing.T) {
	s := newScript(t)
	s.do(a, fsfake.Op{Call: fsfake.CallCellStore, Cell: "held", Value: 1})
	s.do(b, fsfake.Op{Call: fsfake.CallCellStore, Cell: "held", Value: 2})
	s.do(a, fsfake.Op{Call: fsfake.CallCellStore, Cell: "count", Value: 3})
	s.do(a2, fsfake.Op{Call: fsfake.CallCellStore, Cell: "held"})
	s.do(a, fsfake.Op{Call: fsfake.CallCellCAS, Cell: "held", Value: fsfake.Swap{New: 4}})
	s.do(a2, fsfake.Op{Call: fsfake.CallCellCAS, Cell: "held", Value: fsfake.Swap{Old: 3, New: 5}})
	w := s.walk()
	require.Equal(t, []trace.CellState{{Process: 0, Cell: "held", Value: 1}}, w.Steps[0].After.Cells)
	require.Equal(t, []trace.CellState{
		{Process: 0, Cell: "held"}, {Process: 1, Cell: "held", Value: 2}, {Process: 0, Cell: "count", Value: 3},
	}, w.Steps[3].After.Cells)
	require.Equal(t, 4, w.End().Cells[0].Value, "the second finds another value")
}

// A trace without steps has a beginning, which is its end.
func TestWalkOfNothing(t *testing.T) {
	w := newScript(t).walk()
	require.Same(t, w.Start, w.End())
	require.False(t, w.Start.Files[0].Exists)
	require.Equal(t, []sched.Task{a, a2, b}, trace.Tasks(&scenarios.Setting{Processes: 2, Tasks: []int{2, 1}}))
}

func TestWaitTexts(t *testing.T) {
	flock := fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}
	require.Equal(t, strings.Split(strings.TrimSpace(`
B waits in flock fd 3 LOCK_EX
a fresh process waits for ever in flock fd 3 LOCK_EX
a fresh process polls for ever; its last call was stat /run/lock
a fresh process gives up, however late it comes
A.2 keeps trying and never acquires
`), "\n"), trace.WaitTexts([]trace.Wait{
		{How: trace.WaitsInCall, Task: b, Call: flock},
		{How: trace.WaitsInCall, Fresh: true, Call: flock},
		{How: trace.Polls, Fresh: true, Call: named(fsfake.CallStat, "/run/lock")},
		{How: trace.GivesUp, Fresh: true},
		{How: trace.Starves, Task: a2},
	}))
}

// Names are relative to where a process works, and a child's descriptors are its own.
func TestRelativeNamesAndChildren(t *testing.T) {
	s := newScript(t)
	s.m.KillProc(scenarios.Pid(0))
	s.m.AddProc(fsfake.ProcSpec{Pid: scenarios.Pid(0), Parent: 1, Cwd: "/run"})
	s.step(sched.Choice{Action: sched.Stall})
	fork := s.do(a, fsfake.Op{Call: fsfake.CallForkAs, Pid: 500})
	require.Equal(t, int64(500), fork.N)
	child := fsfake.Task{Pid: 500, N: 1}
	op := fsfake.Op{Call: fsfake.CallOpen, Path: "lock", Flags: fsfake.O_CREAT | fsfake.O_WRONLY, Mode: 0o600}
	r := s.m.Do(child, op)
	require.Zero(t, r.Errno)
	s.step(sched.Choice{Task: a}, trace.Call{Op: op, Result: r, By: child})
	write := fsfake.Op{Call: fsfake.CallWrite, FD: int(r.N), Data: "x"}
	wrote := s.m.Do(child, write)
	s.step(sched.Choice{Task: a}, trace.Call{Op: write, Result: wrote, By: child})

	w := trace.NewWalk(s.sc, s.tr)
	opened := w.Steps[2].Targets[0][0]
	require.Equal(t, "/run/lock", opened.Path)
	require.NotZero(t, opened.ID)
	written := w.Steps[3].Targets[0][0]
	require.Equal(t, "/run/lock", written.Path)
	require.Equal(t, opened.ID, written.ID)
	require.Equal(t, "a child of A", w.Who(500))
}

// A choice of which task goes on is no call beside the one that was chosen.
func TestOnlyCall(t *testing.T) {
	choice, read := trace.Call{Op: fsfake.Op{Call: fsfake.CallChoose}}, trace.Call{Op: fsfake.Op{Call: fsfake.CallRead}}
	on := []trace.Target{{Path: "/run/lock"}}
	for _, c := range []struct {
		calls   []trace.Call
		targets [][]trace.Target
		only    bool
	}{
		{nil, nil, false},
		{[]trace.Call{read}, [][]trace.Target{on}, true},
		{[]trace.Call{choice, read}, [][]trace.Target{nil, on}, true},
		{[]trace.Call{read, read}, [][]trace.Target{on, on}, false},
		{[]trace.Call{choice, read, read}, [][]trace.Target{nil, on, on}, false},
	} {
		call, targets := (&trace.Walked{Step: &trace.Step{Calls: c.calls}, Targets: c.targets}).Only()
		if !c.only {
			require.Nil(t, call)
			continue
		}
		require.Equal(t, fsfake.CallRead, call.Op.Call)
		require.Equal(t, on, targets)
	}
}
