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
