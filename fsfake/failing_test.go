package fsfake_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	. "lockpick/fsfake"
)

// onePid is who makes the calls.
var onePid = Task{Pid: 101, N: 1}

// fullDisk is a machine with two files of some bytes, /f and /g, of which f is open as descriptor 3.
func fullDisk(t *testing.T) *Machine {
	m := New(Options{})
	for _, name := range []string{"/f", "/g"} {
		require.NoError(t, m.Proc(1).WriteFile(name, []byte("text"), 0o644))
	}
	m.AddProc(ProcSpec{Pid: 101})
	require.EqualValues(t, 3, m.Do(onePid, Op{Call: CallOpen, Path: "/f", Flags: O_RDWR}).N)
	return m
}

// What can fail is what would succeed, and a call that has failed has done nothing.
func TestFailingCalls(t *testing.T) {
	for name, c := range map[string]struct {
		op    Op
		fails []syscall.Errno
	}{
		"a new file":         {Op{Call: CallOpen, Path: "/new", Flags: O_WRONLY | O_CREAT | O_EXCL, Mode: 0o644}, []syscall.Errno{EACCES, EIO, ENOSPC}},
		"an old file":        {Op{Call: CallOpen, Path: "/f", Flags: O_WRONLY | O_CREAT | O_TRUNC, Mode: 0o644}, []syscall.Errno{EACCES, EIO}},
		"a file in the way":  {Op{Call: CallOpen, Path: "/f", Flags: O_WRONLY | O_CREAT | O_EXCL, Mode: 0o644}, nil},
		"no file":            {Op{Call: CallOpen, Path: "/new"}, nil},
		"a write":            {Op{Call: CallWrite, FD: 3, Data: "x"}, []syscall.Errno{EIO, ENOSPC}},
		"a write of nothing": {Op{Call: CallWrite, FD: 3}, []syscall.Errno{EIO}},
		"no descriptor":      {Op{Call: CallWrite, FD: 9, Data: "x"}, nil},
		"a new name":         {Op{Call: CallRename, Path: "/f", Path2: "/new"}, []syscall.Errno{EACCES, EIO, ENOSPC}},
		"an old name":        {Op{Call: CallRename, Path: "/f", Path2: "/g"}, []syscall.Errno{EACCES, EIO}},
		"a directory":        {Op{Call: CallMkdir, Path: "/d", Mode: 0o755}, []syscall.Errno{EACCES, EIO, ENOSPC}},
		"a free lock":        {Op{Call: CallFlock, FD: 3, Flags: LOCK_EX}, []syscall.Errno{ENOLCK}},
		"a question":         {Op{Call: CallKill, Pid: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := fullDisk(t)
			before := m.AppendKey(nil)
			var can []syscall.Errno
			for _, e := range FailingErrnos() {
				if r, ok := m.Fail(onePid, c.op, e); ok {
					can = append(can, e)
					require.Equal(t, Result{Errno: e}, r)
					require.Equal(t, before, m.AppendKey(nil), "%s did something", ErrnoName(e))
				}
			}
			require.Equal(t, c.fails, can)
		})
	}
}

// A close that fails has given the descriptor back; a wait that a signal ends waits no more, and
// leaves the lock with whoever has it.
func TestFailingCallsThatDoSomething(t *testing.T) {
	m := fullDisk(t)
	other := Task{Pid: 102, N: 1}
	m.AddProc(ProcSpec{Pid: 102})
	require.EqualValues(t, 3, m.Do(other, Op{Call: CallOpen, Path: "/f"}).N)
	require.Zero(t, m.Do(other, Op{Call: CallFlock, FD: 3, Flags: LOCK_EX}).Errno)
	lock := Op{Call: CallFlock, FD: 3, Flags: LOCK_EX}
	r, ok := m.Fail(onePid, lock, EINTR)
	require.True(t, ok)
	require.Equal(t, EINTR, r.Errno)
	_, waits := m.Blocked(onePid)
	require.False(t, waits)
	require.True(t, m.Do(onePid, lock).Blocked)
	require.False(t, m.CanFail(onePid, lock, EINTR), "it waits already")
	require.False(t, m.CanFail(onePid, lock, ENOLCK))

	r, ok = m.Fail(other, Op{Call: CallClose, FD: 3}, EIO)
	require.True(t, ok)
	require.Equal(t, EIO, r.Errno)
	require.Equal(t, EBADF, m.Do(other, Op{Call: CallClose, FD: 3}).Errno)
	require.False(t, m.Do(onePid, lock).Blocked, "the lock went with the descriptor")
}
