package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// What is local hangs on what others can see of it: an open file description gives up its locks with its last use, and
// a directory that was made later has no entries that can be told apart from it. Local steps of programs are compared
// with all others in package search.
func TestLocal(t *testing.T) {
	m := fsfake.New(fsfake.Options{ChildPids: 1000})
	require.NoError(t, m.Proc(1).WriteFile("/tmp/n", nil, 0o644))
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	var f fsfake.Footprint
	f.Rely()
	do := func(pid int, op fsfake.Op) int {
		before := m.Clone()
		r := m.Do(fsfake.Task{Pid: pid, N: 1}, op)
		require.True(t, r.OK(), "%s", op)
		f.Note(op, before, m)
		return int(r.N)
	}
	local := func(op fsfake.Op) bool { return m.Local(fsfake.Task{Pid: 101, N: 1}, op, true, &f) }
	open := fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp/n", Flags: fsfake.O_RDWR}

	for name, lock := range map[string]fsfake.Op{
		"no lock":     {Call: fsfake.CallGetfd},
		"flock":       {Call: fsfake.CallFlock, Flags: fsfake.LOCK_EX},
		"record lock": {Call: fsfake.CallSetlk, Flags: fsfake.F_WRLCK},
		"OFD lock":    {Call: fsfake.CallOFDSetlk, Flags: fsfake.F_WRLCK},
	} {
		lock.FD = do(101, open)
		do(101, lock)
		closes := fsfake.Op{Call: fsfake.CallClose, FD: lock.FD}
		require.Equal(t, name == "no lock", local(closes), name)
		require.Equal(t, name == "no lock", local(fsfake.Op{Call: fsfake.CallEnd}), name)
		do(101, closes)
	}

	refutes := func(op, by fsfake.Op) {
		require.True(t, local(op), "%s", op)
		require.False(t, f.Refuted())
		do(102, by)
		require.True(t, f.Refuted(), "%s after %s", op, by)
		f.Rely()
	}
	creates := func(name string) fsfake.Op {
		return fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_WRONLY | fsfake.O_CREAT, Mode: 0o644}
	}
	do(101, fsfake.Op{Call: fsfake.CallMkdir, Path: "/tmp/d", Mode: 0o755})
	do(101, fsfake.Op{Call: fsfake.CallStat, Path: "/tmp/d"}) // it has its number from now on
	for dir, later := range map[string]bool{"/tmp": true, "/tmp/d": false} {
		fd := do(101, fsfake.Op{Call: fsfake.CallOpen, Path: dir, Flags: fsfake.O_DIRECTORY})
		list := fsfake.Op{Call: fsfake.CallReaddir, FD: fd}
		refutes(list, creates(dir+"/e"))
		require.Equal(t, later, local(list), "an entry that nobody removes stays, where it has an identity")
		f.Rely()
	}
	refutes(open, fsfake.Op{Call: fsfake.CallChmod, Path: "/tmp/n", Mode: 0o600})
	require.False(t, local(open))
	refutes(fsfake.Op{Call: fsfake.CallStat, Path: "/tmp/absent"}, creates("/tmp/absent"))

	fd := do(101, fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp/absent"})
	require.True(t, local(fsfake.Op{Call: fsfake.CallEnd}))
	do(101, fsfake.Op{Call: fsfake.CallPread, FD: fd, Len: 1, Flags: fsfake.Shares})
	require.False(t, local(fsfake.Op{Call: fsfake.CallEnd}), "its mapping keeps others from writing")
}

// Of several calls of a family that one goes first which only looks at what its siblings do not change, either: not
// through a description that they have, too, and only while nobody looks whether somebody lives.
func TestLocalWay(t *testing.T) {
	m := fsfake.New(fsfake.Options{ChildPids: 1000})
	require.NoError(t, m.Proc(1).WriteFile("/tmp/n", []byte("0"), 0o644))
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	var f fsfake.Footprint
	do := func(pid int, op fsfake.Op) int {
		before := m.Clone()
		r := m.Do(fsfake.Task{Pid: pid, N: 1}, op)
		require.True(t, r.OK(), "%s", op)
		f.Note(op, before, m)
		return int(r.N)
	}
	way := func(op fsfake.Op) int {
		f.Rely()
		looks := fsfake.WayThatLooks("it looks", fsfake.Task{Pid: 101_001, N: 1}, op)
		return m.LocalWay(&fsfake.Op{Call: fsfake.CallChoose, Len: 2, Data: "another\n" + looks}, true, &f)
	}
	open := fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp/n"}
	shared := do(101, open)
	do(101, fsfake.Op{Call: fsfake.CallForkAs, Pid: 101_001})
	own := do(101_001, open)
	for fd, want := range map[int]int{shared: -1, own: 1} {
		require.Equal(t, want, way(fsfake.Op{Call: fsfake.CallRead, FD: fd, Len: 1}))
		require.Equal(t, want, way(fsfake.Op{Call: fsfake.CallLseek, FD: fd}))
		require.Equal(t, 1, way(fsfake.Op{Call: fsfake.CallFstat, FD: fd}))
	}
	require.Equal(t, -1, way(fsfake.Op{Call: fsfake.CallClose, FD: own}), "it ends the last use of a file")
	require.Equal(t, 1, way(open))
	require.Equal(t, 1, way(fsfake.Op{Call: fsfake.CallStat, Path: "/tmp/a\nb"}))

	open.Flags = fsfake.O_RDWR
	do(101, fsfake.Op{Call: fsfake.CallPwrite, FD: do(101, open), Data: "1"})
	open.Flags = fsfake.O_RDONLY
	require.Equal(t, -1, way(fsfake.Op{Call: fsfake.CallFstat, FD: own}), "a sibling has changed it")
	require.Equal(t, 1, way(open))
	do(101, fsfake.Op{Call: fsfake.CallKill, Pid: 101_001})
	require.True(t, f.Refuted(), "it may be killed before")
	require.Equal(t, -1, way(open))
}
