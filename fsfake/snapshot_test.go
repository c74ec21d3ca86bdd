package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A machine made of a snapshot has the key of the machine that it was taken of, and what has more has none.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101, Start: 1000})
	m.AddProc(fsfake.ProcSpec{Pid: 102, Start: 1001})
	do := func(pid int, op fsfake.Op) fsfake.Result { return m.Do(fsfake.Task{Pid: pid, N: 1}, op) }
	open := fsfake.Op{Call: fsfake.CallOpen, Path: "/lock", Flags: fsfake.O_RDWR | fsfake.O_CREAT, Mode: 0o644}
	for _, pid := range []int{101, 102} {
		require.True(t, do(pid, open).OK())
	}
	require.True(t, do(101, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}).OK())
	require.True(t, do(102, fsfake.Op{Call: fsfake.CallSetlk, FD: 3, Flags: fsfake.F_WRLCK}).OK())
	require.True(t, do(102, fsfake.Op{Call: fsfake.CallFstat, FD: 3}).OK())
	require.True(t, do(101, fsfake.Op{Call: fsfake.CallUnlink, Path: "/lock"}).OK())

	s, err := m.Snapshot()
	require.NoError(t, err)
	again := m.Of(&s)
	require.Equal(t, m.AppendKey(nil), again.AppendKey(nil))
	refused := again.Do(fsfake.Task{Pid: 102, N: 1}, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX |
		fsfake.LOCK_NB})
	require.Equal(t, fsfake.EAGAIN, refused.Errno)

	require.True(t, do(102, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}).Blocked)
	_, err = m.Snapshot()
	require.ErrorContains(t, err, "share")
}
