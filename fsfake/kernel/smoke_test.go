//go:build linux

package kernel

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"lockpick/fsfake"
)

func TestMain(m *testing.M) {
	MaybeWorker(nil)
	os.Exit(m.Run())
}

func TestSmoke(t *testing.T) {
	runtime.LockOSThread()
	require.NoError(t, Pin(0))
	m, err := New(Options{})
	require.NoError(t, err)
	defer m.Close()
	t0 := time.Now()
	require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: 101}))
	require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: 102, UID: 1000, GID: 1000}))
	do := func(pid int, op fsfake.Op) fsfake.Result {
		r, err := m.Do(pid, op)
		require.NoError(t, err)
		t.Log(pid, op, r.Describe(op), r.Unmodelled)
		return r
	}
	do(101, fsfake.Op{Call: fsfake.CallOpen, Path: "/f", Flags: os.O_RDWR | os.O_CREATE, Mode: 0o666})
	do(102, fsfake.Op{Call: fsfake.CallOpen, Path: "/f", Flags: os.O_RDWR})
	do(102, fsfake.Op{Call: fsfake.CallOpen, Path: "/f", Flags: os.O_RDONLY})
	t.Log("start", time.Since(t0))
	do(101, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX})
	require.True(t, do(102, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}).Blocked)
	w, err := m.Woken()
	require.NoError(t, err)
	require.Empty(t, w)
	require.NoError(t, m.Interrupt(102))
	w, err = m.Woken()
	require.NoError(t, err)
	t.Log(w)
	require.True(t, do(102, fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_EX}).Blocked)
	t0 = time.Now()
	r := do(101, fsfake.Op{Call: fsfake.CallFork})
	t.Log("fork", time.Since(t0))
	child := int(r.N)
	do(101, fsfake.Op{Call: fsfake.CallExit})
	w, _ = m.Woken()
	require.Empty(t, w)
	t0 = time.Now()
	do(child, fsfake.Op{Call: fsfake.CallExec})
	t.Log("exec", time.Since(t0))
	do(child, fsfake.Op{Call: fsfake.CallFstat, FD: 3})
	do(child, fsfake.Op{Call: fsfake.CallClose, FD: 3})
	w, _ = m.Woken()
	t.Log(w)
	do(102, fsfake.Op{Call: fsfake.CallExec})
	r = do(102, fsfake.Op{Call: fsfake.CallFork})
	do(int(r.N), fsfake.Op{Call: fsfake.CallFstat, FD: 3})
	do(102, fsfake.Op{Call: fsfake.CallMkdir, Path: "/x"})
	do(102, fsfake.Op{Call: fsfake.CallRmdir, Path: "/.."})
	t0 = time.Now()
	for range 10000 {
		m.Do(102, fsfake.Op{Call: fsfake.CallFstat, FD: 3})
	}
	t.Log("10000 fstat", time.Since(t0))
	t0 = time.Now()
	for range 100 {
		require.NoError(t, m.Reset())
		require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: 101}))
		require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: 102}))
		m.Do(102, fsfake.Op{Call: fsfake.CallFstat, FD: 3})
	}
	t.Log("100 resets", time.Since(t0))
	t0 = time.Now()
	for range 100 {
		require.NoError(t, m.AddProc(fsfake.ProcSpec{Pid: 103, UID: 7}))
		m.Do(103, fsfake.Op{Call: fsfake.CallFstat, FD: 3})
		m.KillProc(103)
	}
	t.Log("100 starts", time.Since(t0))
}
