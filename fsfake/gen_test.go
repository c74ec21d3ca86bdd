package fsfake

import (
	"fmt"
	"os"
	"slices"

	"pgregory.net/rapid"
)

// Random calls over a few names, descriptors and processes, for the laws below.

// trio returns a machine with two processes of root, of which one has two tasks, and one of
// user 1000.
func trio(policy InodePolicy) *Machine { return trioOf(Options{InodeNumbers: policy}) }

func trioOf(o Options) *Machine {
	m := New(o)
	m.AddProc(ProcSpec{Pid: 101, Tasks: 2})
	m.AddProc(ProcSpec{Pid: 102, Cwd: "/tmp"})
	_ = m.Proc(1).Mkdir("/tmp/w", 0o777)
	m.AddProc(ProcSpec{Pid: 103, UID: 1000, GID: 1000, Cwd: "/tmp/w"})
	return m
}

var genPath = rapid.SampledFrom([]string{
	"/a", "/a", "/tmp/a", "/tmp/a", "/d", "/d/a", "/d/e", "/d/e/a", "/s", "/s/a", "/tmp/s", "a", "../a", ".", "..", "/", "/a/", "/d/", "/none/x", "", "/tmp/w",
	"/proc/self/fd/3/a", "/proc/self/fd/4", "/proc/self/fd/4/..",
})

var genOpenFlags = rapid.SampledFrom([]int{
	os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE, os.O_RDWR | os.O_CREATE, os.O_WRONLY | os.O_CREATE | os.O_EXCL,
	os.O_RDWR | os.O_TRUNC, os.O_WRONLY | os.O_APPEND | os.O_CREATE, O_DIRECTORY, O_NOFOLLOW, os.O_RDWR | O_TMPFILE, O_CLOEXEC, O_PATH, O_PATH | O_NOFOLLOW,
})

var genCall = rapid.SampledFrom(slices.Concat(
	slices.Repeat([]Call{CallOpen}, 8), slices.Repeat([]Call{CallFlock, CallSetlk, CallOFDSetlk, CallUnlink, CallClose, CallRename}, 3),
	slices.Repeat([]Call{CallWrite, CallMkdir, CallSymlink, CallLink, CallStat, CallRmdir}, 2),
	[]Call{
		CallStat, CallLstat, CallReadlink, CallRmdir, CallTruncate, CallUtimes, CallLutimes, CallChmod, CallChown, CallLchown, CallChdir,
		CallRead, CallPread, CallPwrite, CallLseek, CallDup, CallDup2, CallDup3, CallGetfd, CallSetfd, CallGetfl, CallSetfl, CallFstat, CallFtruncate, CallFutimes, CallFchmod, CallFchown, CallFsync, CallReaddir,
		CallGetlk, CallOFDGetlk, CallLinkFD, CallKill, CallStartTime, CallProcs, CallFork, CallExec, CallExit,
		CallGetcwd, CallNow, CallCellLoad, CallCellStore, CallCellWait, CallCellCAS,
	},
))

var genOp = rapid.Custom(func(t *rapid.T) Op {
	op := Op{Call: genCall.Draw(t, "call")}
	small := rapid.Int64Range(0, 6)
	for _, f := range []struct {
		operand Operand
		draw    func()
	}{
		{OperandPath, func() { op.Path = genPath.Draw(t, "path") }},
		{OperandPath2, func() { op.Path2 = genPath.Draw(t, "path2") }},
		{OperandFlags, func() { op.Flags = genFlags(op.Call).Draw(t, "flags") }},
		{OperandMode, func() { op.Mode = rapid.SampledFrom([]uint32{0o644, 0o666, 0o755, 0o700, 0o1777}).Draw(t, "mode") }},
		{OperandFD, func() { op.FD = rapid.SampledFrom([]int{3, 3, 3, 4, 4, 5, 6, 1}).Draw(t, "fd") }},
		{OperandFD2, func() { op.FD2 = rapid.IntRange(0, 7).Draw(t, "fd2") }},
		{OperandOff, func() { op.Off = small.Draw(t, "off") }},
		{OperandLen, func() { op.Len = small.Draw(t, "len") }},
		{OperandData, func() { op.Data = rapid.SampledFrom([]string{"x", "yy", "zzz", ""}).Draw(t, "data") }},
		{OperandPid, func() { op.Pid = rapid.IntRange(101, 105).Draw(t, "pid") }},
		{OperandTime, func() { op.Time = 1 }},
		{OperandTime2, func() { op.Time2 = small.Draw(t, "mtime") }},
		{OperandWait, func() { op.Wait = rapid.Bool().Draw(t, "wait") }},
		{OperandCell, func() { op.Cell = "c" }},
		{OperandValue, func() {
			value := rapid.SampledFrom([]any{nil, 1, "1", true})
			if op.Value = value.Draw(t, "value"); op.Call == CallCellCAS {
				op.Value = Swap{op.Value, value.Draw(t, "new")}
			}
		}},
	} {
		if op.Call.Uses(f.operand) {
			f.draw()
		}
	}
	if op.Call == CallChown || op.Call == CallLchown || op.Call == CallFchown { // to the same owner, mostly
		op.Off, op.Len = 1000, -1
	}
	return op
})

// genFlags draws the flags of a call.
func genFlags(c Call) *rapid.Generator[int] {
	switch c {
	case CallOpen:
		return genOpenFlags
	case CallRename:
		return rapid.SampledFrom([]int{0, 0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE})
	case CallFlock:
		return rapid.SampledFrom([]int{LOCK_SH, LOCK_EX, LOCK_UN, LOCK_SH | LOCK_NB, LOCK_EX | LOCK_NB})
	case CallSetlk, CallGetlk, CallOFDSetlk, CallOFDGetlk:
		return rapid.SampledFrom([]int{F_RDLCK, F_WRLCK, F_WRLCK, F_UNLCK})
	case CallLseek:
		return rapid.IntRange(0, 4)
	case CallDup, CallDup3:
		return rapid.SampledFrom([]int{0, O_CLOEXEC})
	case CallSetfd:
		return rapid.IntRange(0, 1)
	case CallSetfl:
		return rapid.SampledFrom([]int{0, O_APPEND, O_NONBLOCK, O_APPEND | O_NONBLOCK})
	}
	return rapid.Just(0)
}

// A deed is something that happens to a machine.
type deed struct {
	task    Task
	op      Op
	advance bool
	kill    bool
	// interrupt interrupts a task that waits for a lock.
	interrupt bool
}

var genDeed = rapid.Custom(func(t *rapid.T) deed {
	d := deed{task: Task{rapid.IntRange(101, 104).Draw(t, "pid"), rapid.SampledFrom([]int{1, 1, 1, 2}).Draw(t, "task")}}
	switch rapid.IntRange(0, 39).Draw(t, "what") {
	case 0:
		d.advance = true
	case 1:
		d.kill = true
	default:
		d.op = genOp.Draw(t, "op")
	}
	return d
})

// Deeds around one lock file, where locks meet, calls block and descriptions are shared.
var genLockDeed = rapid.Custom(func(t *rapid.T) deed {
	d := deed{task: Task{rapid.IntRange(101, 104).Draw(t, "pid"), rapid.IntRange(1, 2).Draw(t, "task")}}
	fd := rapid.IntRange(3, 4).Draw(t, "fd")
	d.op = rapid.OneOf(
		rapid.SampledFrom([]Op{
			{Call: CallOpen, Path: "/tmp/a", Flags: os.O_RDWR | os.O_CREATE, Mode: 0o666},
			{Call: CallClose, FD: fd}, {Call: CallDup, FD: fd}, {Call: CallRead, FD: fd, Len: 1},
			{Call: CallWrite, FD: fd, Data: "x"}, {Call: CallUnlink, Path: "/tmp/a"}, {Call: CallFork}, {Call: CallExec},
			{Call: CallStat, Path: "/tmp/a"},
		}),
		rapid.Custom(func(t *rapid.T) Op {
			return Op{Call: CallFlock, FD: fd, Flags: rapid.SampledFrom([]int{LOCK_SH, LOCK_EX, LOCK_UN, LOCK_EX | LOCK_NB}).Draw(t, "how")}
		}),
		rapid.Custom(func(t *rapid.T) Op {
			return Op{
				Call: rapid.SampledFrom([]Call{CallSetlk, CallOFDSetlk}).Draw(t, "call"), FD: fd, Wait: true,
				Flags: rapid.IntRange(F_RDLCK, F_UNLCK).Draw(t, "type"), Off: rapid.Int64Range(0, 3).Draw(t, "off"), Len: rapid.Int64Range(0, 2).Draw(t, "len"),
			}
		}),
	).Draw(t, "op")
	d.kill = rapid.IntRange(0, 19).Draw(t, "kill") == 0
	return d
})

// apply makes a deed happen. A task that is blocked goes on with its call, whatever the
// deed says.
func (d deed) apply(m *Machine) Result {
	switch {
	case d.advance:
		m.Advance(1000)
		return Result{}
	case d.kill:
		m.KillProc(d.task.Pid)
		return Result{}
	}
	op := d.op
	blocked, ok := m.Blocked(d.task)
	switch {
	case d.interrupt && ok:
		return m.Interrupt(d.task)
	case d.interrupt:
		return Result{}
	case ok:
		op = blocked
	}
	return m.Do(d.task, op)
}

func (d deed) String() string {
	return fmt.Sprintf("%d.%d %s advance=%t kill=%t", d.task.Pid, d.task.N, d.op, d.advance, d.kill)
}

// Few deeds make good counterexamples, many reach deep states.
var genDeeds = rapid.OneOf(
	rapid.SliceOfN(genDeed, 1, 20), rapid.SliceOfN(genDeed, 40, 80),
	rapid.SliceOfN(genLockDeed, 1, 20), rapid.SliceOfN(genLockDeed, 20, 40),
)
