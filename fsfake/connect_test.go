package fsfake

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Who connects is told the name that the owner of the socket said to bind, as long as the owner listens; machines whose
// owners said other names differ.
func TestConnectTellsTheOwnersName(t *testing.T) {
	task := Task{Pid: 101, N: 1}
	listening := func(said string) *Machine {
		m := New(Options{})
		m.AddProc(ProcSpec{Pid: 101, Parent: 1, Cwd: "/"})
		bound := m.Do(task, Op{Call: CallBind, Path: "/s", Mode: 0o777, Data: said})
		require.True(t, bound.OK())
		require.Equal(t, ECONNREFUSED, m.Do(task, Op{Call: CallConnect, Path: "/s"}).Errno, "it does not listen yet")
		require.True(t, m.Do(task, Op{Call: CallListen, FD: int(bound.N), Len: 1}).OK())
		return m
	}
	a, b := listening("s"), listening("/s")
	require.NotEqual(t, a.AppendKey(nil), b.AppendKey(nil))
	for range 2 { // the queue has one place more than was asked for
		r := b.Do(task, Op{Call: CallConnect, Path: "/s"})
		require.True(t, r.OK())
		require.Equal(t, "/s", r.Data)
	}
	require.Contains(t, b.Do(task, Op{Call: CallConnect, Path: "/s"}).Unmodelled, "queue of connections is full")
}
