//go:build linux

package fsfake_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
)

// TestKernelDeadlockOfTasks: two tasks of A wait, one for B and one for C, and B asks for
// what A has. That closes a cycle, which the kernel sees only through the task of A that
// began to wait last.
func TestKernelDeadlockOfTasks(t *testing.T) {
	const a, b, c = 101, 102, 103
	real, err := kernel.New(kernel.Options{Tasks: 2})
	require.NoError(t, err)
	defer real.Close()
	for _, last := range []int{1, 2} {
		fake := fsfake.New(fsfake.Options{})
		require.NoError(t, real.Reset())
		for pid := a; pid <= c; pid++ {
			spec := fsfake.ProcSpec{Pid: pid}
			if !real.Rooted() {
				spec.UID, spec.GID = uint32(os.Geteuid()), uint32(os.Getegid())
			}
			fake.AddProc(spec)
			require.NoError(t, real.AddProc(spec))
		}
		do := func(pid, task int, op fsfake.Op) string {
			f := fake.Do(fsfake.Task{Pid: pid, N: task}, op)
			r, err := real.Do(fsfake.Task{Pid: pid, N: task}, op)
			require.NoError(t, err)
			require.Equal(t, f.Describe(op), r.Describe(op), "%d.%d %s", pid, task, op)
			return f.Describe(op)
		}
		for pid := a; pid <= c; pid++ {
			do(pid, 1, fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp/f", Flags: os.O_RDWR | os.O_CREATE, Mode: 0o666})
			do(pid, 1, fsfake.Op{Call: fsfake.CallSetlk, FD: 3, Flags: fsfake.F_WRLCK, Off: int64(pid), Len: 1})
		}
		do(a, 2, fsfake.Op{Call: fsfake.CallFsync, FD: 3}) // starts the second task, which the first must be free to do
		waits := map[int]int64{1: b, 2: c}
		for _, task := range []int{3 - last, last} {
			require.Equal(t, "waits", do(a, task, fsfake.Op{Call: fsfake.CallSetlk, FD: 3, Flags: fsfake.F_WRLCK, Off: waits[task], Len: 1, Wait: true}))
		}
		want := map[int]string{1: "EDEADLK", 2: "waits"}[last]
		require.Equal(t, want, do(b, 1, fsfake.Op{Call: fsfake.CallSetlk, FD: 3, Flags: fsfake.F_WRLCK, Off: a, Len: 1, Wait: true}))
	}
}
