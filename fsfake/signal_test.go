package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A signal comes at the next call of the program that the process belongs to, whichever of its processes makes it.
func TestSignals(t *testing.T) {
	const childPids = 1000
	term := fsfake.Op{Call: fsfake.CallKill, Pid: 101, Flags: 15}
	a, b, child := fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}, fsfake.Task{Pid: 101_001, N: 1}
	lock := func(fd int) fsfake.Op { return fsfake.Op{Call: fsfake.CallFlock, FD: fd, Flags: fsfake.LOCK_EX} }
	begin := func() *fsfake.Machine {
		m := fsfake.New(fsfake.Options{ChildPids: childPids})
		m.AddProc(fsfake.ProcSpec{Pid: 101})
		m.AddProc(fsfake.ProcSpec{Pid: 102})
		require.Equal(t, int64(101_001), m.Do(a, fsfake.Op{Call: fsfake.CallForkAs, Pid: 101_001}).N)
		return m
	}
	comes := func(m *fsfake.Machine, by fsfake.Task, op fsfake.Op, begun bool) {
		t.Helper()
		r := m.Do(by, op)
		s, is := r.Interrupts()
		require.True(t, is, r.Describe(op))
		require.Equal(t, fsfake.Signalled{Pid: 101, Signal: 15, Begun: begun}, s)
		require.False(t, r.OK())
	}
	look := fsfake.Op{Call: fsfake.CallStat, Path: "/"}

	m := begin()
	before := string(m.AppendKey(nil))
	require.True(t, m.Do(b, term).OK())
	sent := m.Clone()
	require.NotEqual(t, before, string(m.AppendKey(nil)), "what is to come is a part of the state")
	require.True(t, m.Do(b, term).OK())
	require.Equal(t, string(sent.AppendKey(nil)), string(m.AppendKey(nil)), "of two that are alike one comes")
	require.True(t, m.Do(b, look).OK(), "not to another program")
	comes(m, child, look, false)
	require.Equal(t, before, string(m.AppendKey(nil)), "the call was not made, and nothing is left of the signal")
	require.True(t, m.Do(child, look).OK())

	// It ends a wait, and whoever waits can go on.
	m = begin()
	for _, by := range []fsfake.Task{a, b} {
		m.Do(by, fsfake.Op{Call: fsfake.CallOpen, Path: "/lock", Flags: fsfake.O_CREAT})
	}
	require.True(t, m.Do(b, lock(3)).OK())
	require.True(t, m.Do(a, lock(3)).Blocked)
	require.False(t, m.Ready(a, lock(3)))
	m.Do(b, term)
	require.True(t, m.Ready(a, lock(3)))
	comes(m, a, lock(3), true)
	_, waits := m.Blocked(a)
	require.False(t, waits)

	// Who ends does so, and nothing comes afterwards; nor to one that has been killed.
	m = sent.Clone()
	require.True(t, m.Do(a, fsfake.Op{Call: fsfake.CallEnd}).OK())
	require.True(t, m.Do(child, look).OK())
	m = sent.Clone()
	m.KillProc(101)
	require.True(t, m.Do(child, look).OK())
	require.Equal(t, fsfake.ESRCH, m.Do(b, term).Errno)
	require.Equal(t, fsfake.EINVAL, m.Do(b, fsfake.Op{Call: fsfake.CallKill, Pid: 102, Flags: 65}).Errno)

	// A choice goes no way that is shut, and all are open to a signal.
	waits1 := fsfake.WayThatWaits(a, lock(3))
	choice := fsfake.Op{Call: fsfake.CallChoose, Len: 2, Data: waits1 + "\n" + waits1}
	m = begin()
	for _, by := range []fsfake.Task{a, b} {
		m.Do(by, fsfake.Op{Call: fsfake.CallOpen, Path: "/lock", Flags: fsfake.O_CREAT})
	}
	m.Do(b, lock(3))
	require.EqualValues(t, 3, m.Shut(a, choice))
	m.Do(b, term)
	require.Zero(t, m.Shut(a, choice))

	require.False(t, term.Viewed(), "proofs for any number of processes know of no signals")
	alive := fsfake.Op{Call: fsfake.CallKill, Pid: 101}
	require.True(t, alive.Viewed())

	require.Equal(t, "kill 101 SIGTERM", term.String())
	require.Equal(t, "sent", fsfake.Result{}.Describe(term))
	r := sent.Do(a, look)
	require.Equal(t, "not made: SIGTERM comes for 101", r.Describe(look))
}

// No call is local of a program that a signal may come for: what it has done by then is what the signal finds.
func TestSignalsAreNotLocal(t *testing.T) {
	m := fsfake.New(fsfake.Options{ChildPids: 1000, InodeNumbers: fsfake.InodesUnique})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	a, b := fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}
	look := fsfake.Op{Call: fsfake.CallStat, Path: "/"}
	var f fsfake.Footprint
	f.Rely()
	require.True(t, m.Local(a, look, true, &f))
	before := m.Clone()
	term := fsfake.Op{Call: fsfake.CallKill, Pid: 101, Flags: 15}
	m.Do(b, term)
	f.Note(term, before, m)
	require.True(t, f.Refuted())
	f.Rely()
	require.False(t, m.Local(a, look, true, &f))
	require.True(t, m.Local(b, look, true, &f))
}
