//go:build linux

package fsfake_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
)

// Two processes use a FIFO, on the fake machine and on the kernel.
func TestKernelFIFO(t *testing.T) {
	const a, b = 101, 102
	real, err := kernel.New(kernel.Options{Tasks: 1})
	require.NoError(t, err)
	defer real.Close()
	open := func(flags int) fsfake.Op { return fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp/p", Flags: flags} }
	pread := fsfake.Op{Call: fsfake.CallPread, FD: 3, Len: 1}
	pwrite := fsfake.Op{Call: fsfake.CallPwrite, FD: 3, Data: "x"}
	flock := func(how int) fsfake.Op { return fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: how} }
	put := func(fd int, text string) fsfake.Op { return fsfake.Op{Call: fsfake.CallWrite, FD: fd, Data: text} }
	take := func(fd int, most int64) fsfake.Op {
		return fsfake.Op{Call: fsfake.CallTake, FD: fd, Len: most, Wait: true}
	}
	closes := fsfake.Op{Call: fsfake.CallClose, FD: 3}
	const nonblock = fsfake.O_NONBLOCK
	type step struct {
		pid int
		op  fsfake.Op
	}
	for name, steps := range map[string][]step{
		"what is written is read once": {
			{a, open(os.O_RDWR)}, {b, open(os.O_RDWR)}, {a, put(3, "abc")}, {a, put(3, "")},
			{b, put(3, "d")}, {b, take(3, 2)},
			{b, take(3, 0)}, {a, take(3, 9)}, {b, take(3, 1)}, {a, put(3, "e")}, {b, take(3, 1)}},
		"only ends that can be used are used": {
			{a, open(os.O_RDONLY | nonblock)}, {b, open(os.O_WRONLY)}, {a, put(3, "x")}, {b, take(3, 1)},
			{a, pread}, {b, pwrite},
			{b, pread}, {a, pwrite},
			{a, fsfake.Op{Call: fsfake.CallLseek, FD: 3}}, {a, fsfake.Op{Call: fsfake.CallFtruncate, FD: 3}},
			{b, fsfake.Op{Call: fsfake.CallFtruncate, FD: 3}}, {a, fsfake.Op{Call: fsfake.CallReaddir, FD: 3}}},
		"nobody can write, so it is empty for good": {
			{a, open(os.O_RDONLY | nonblock)}, {a, take(3, 1)}, {b, open(os.O_WRONLY)}, {b, put(3, "x")}, {b, closes},
			{a, take(3, 2)}, {a, take(3, 2)}},
		"who waits is told that nobody can write any more": {
			{b, open(os.O_RDWR)}, {a, open(os.O_RDONLY)}, {a, take(3, 2)}, {b, closes}, {a, take(3, 2)}},
		"what is in there goes with the last who has it open": {
			{a, open(os.O_RDWR)}, {a, put(3, "x")}, {b, open(os.O_RDONLY)}, {a, closes}, {a, open(os.O_RDWR)},
			{a, closes}, {b, closes}, {b, open(os.O_RDONLY | nonblock)}, {b, take(3, 2)}},
		"who does not wait": {
			{a, open(os.O_WRONLY | nonblock)}, {a, open(os.O_RDWR | nonblock)}, {a, take(3, 1)},
			{b, open(os.O_WRONLY | nonblock)}, {a, fsfake.Op{Call: fsfake.CallSetfl, FD: 3}}, {a, take(3, 1)},
			{b, put(3, "x")}, {a, take(3, 1)}},
		"opens that make or empty a file": {
			{a, open(os.O_RDWR | os.O_CREATE)}, {b, open(os.O_WRONLY | os.O_TRUNC)}, {a, put(3, "x")}, {b, closes},
			{b, open(os.O_RDWR | os.O_TRUNC)}, {b, take(3, 1)}, {b, open(os.O_RDWR | os.O_CREATE | os.O_EXCL)}},
		"its name does not matter, and its size is 0": {
			{a, open(os.O_RDWR)}, {a, put(3, "x")}, {b, open(os.O_RDWR)},
			{b, fsfake.Op{Call: fsfake.CallUnlink, Path: "/tmp/p"}}, {b, take(3, 1)}},
		"locks": {
			{a, open(os.O_RDWR)}, {b, open(os.O_RDWR)}, {a, flock(fsfake.LOCK_EX)},
			{b, flock(fsfake.LOCK_EX | fsfake.LOCK_NB)}},
	} {
		t.Run(name, func(t *testing.T) {
			fake := fsfake.New(fsfake.Options{})
			require.NoError(t, real.Reset())
			for pid := a; pid <= b; pid++ {
				spec := fsfake.ProcSpec{Pid: pid}
				if !real.Rooted() {
					spec.UID, spec.GID = uint32(os.Geteuid()), uint32(os.Getegid())
				}
				fake.AddProc(spec)
				require.NoError(t, real.AddProc(spec))
			}
			made := fsfake.Op{Call: fsfake.CallMknod, Path: "/tmp/p", Flags: fsfake.S_IFIFO, Mode: 0o666}
			for i, s := range append([]step{{a, made}}, steps...) {
				task := fsfake.Task{Pid: s.pid, N: 1}
				_, waited := fake.Blocked(task)
				f := fake.Do(task, s.op)
				require.Empty(t, f.Unmodelled)
				var r fsfake.Result
				if _, waits := fake.Blocked(task); waited {
					woken, err := real.Woken()
					require.NoError(t, err)
					require.Len(t, woken, map[bool]int{false: 1}[waits])
					r = fsfake.Result{Blocked: true}
					for _, w := range woken {
						r = w.Result
					}
				} else {
					r, err = real.Do(task, s.op)
					require.NoError(t, err)
				}
				require.Equal(t, f.Describe(s.op), r.Describe(s.op), "%d: %d %s", i, s.pid, s.op)
				size := fake.Clone().Do(fsfake.Task{Pid: a, N: 1}, fsfake.Op{Call: fsfake.CallStat, Path: "/tmp/p"})
				require.Zero(t, size.Stat.Size)
			}
		})
	}
}

// What a FIFO is not modelled to do is said.
func TestFIFOIsNotModelled(t *testing.T) {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	do := func(op fsfake.Op) fsfake.Result { return m.Do(fsfake.Task{Pid: 101, N: 1}, op) }
	do(fsfake.Op{Call: fsfake.CallMknod, Path: "/p", Flags: fsfake.S_IFIFO, Mode: 0o666})
	do(fsfake.Op{Call: fsfake.CallOpen, Path: "/p", Flags: os.O_RDONLY | fsfake.O_NONBLOCK})
	do(fsfake.Op{Call: fsfake.CallOpen, Path: "/p", Flags: os.O_WRONLY})
	require.Contains(t, do(fsfake.Op{Call: fsfake.CallRead, FD: 3, Len: 1}).Unmodelled, "as a file")
	big := strings.Repeat("x", 16<<10)
	require.True(t, do(fsfake.Op{Call: fsfake.CallWrite, FD: 4, Data: big}).OK())
	require.Contains(t, do(fsfake.Op{Call: fsfake.CallWrite, FD: 4, Data: "x"}).Unmodelled, "more than 16384 bytes")
	do(fsfake.Op{Call: fsfake.CallClose, FD: 3})
	require.Contains(t, do(fsfake.Op{Call: fsfake.CallWrite, FD: 4, Data: "x"}).Unmodelled, "nobody can read")
	f := do(fsfake.Op{Call: fsfake.CallOpen, Path: "/f", Flags: os.O_RDWR | os.O_CREATE, Mode: 0o666})
	require.Contains(t, do(fsfake.Op{Call: fsfake.CallTake, FD: int(f.N), Len: 1}).Unmodelled, "as a FIFO")
}

// Who opens one end waits for the other, also if that is closed before he goes on.
func TestFIFOWaitsForItsOtherEnd(t *testing.T) {
	for _, mine := range []int{os.O_RDONLY, os.O_WRONLY} {
		for _, other := range []int{os.O_WRONLY - mine, os.O_RDWR} {
			m := fsfake.New(fsfake.Options{})
			m.AddProc(fsfake.ProcSpec{Pid: 101})
			m.AddProc(fsfake.ProcSpec{Pid: 102})
			a, b := fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}
			open := func(t fsfake.Task, flags int) fsfake.Result {
				return m.Do(t, fsfake.Op{Call: fsfake.CallOpen, Path: "/p", Flags: flags})
			}
			ends := fsfake.Op{Call: fsfake.CallOpenFIFO, FD: 3, Wait: true}
			m.Do(a, fsfake.Op{Call: fsfake.CallMknod, Path: "/p", Flags: fsfake.S_IFIFO, Mode: 0o666})
			require.Equal(t, fsfake.FIFO{Waits: true}, open(a, mine).Value)
			require.Equal(t, fsfake.EAGAIN, m.Do(a, fsfake.Op{Call: fsfake.CallOpenFIFO, FD: 3}).Errno)
			require.True(t, m.Do(a, ends).Blocked)
			require.False(t, m.Ready(a, ends))
			require.Equal(t, fsfake.FIFO{Waits: true}, open(b, mine).Value, "it is no other end")
			require.False(t, m.Ready(a, ends))
			m.Do(b, fsfake.Op{Call: fsfake.CallClose, FD: 3})
			require.Equal(t, fsfake.FIFO{}, open(b, other).Value)
			m.Do(b, fsfake.Op{Call: fsfake.CallClose, FD: 3})
			require.True(t, m.Ready(a, ends))
			require.Equal(t, fsfake.Result{}, m.Do(a, ends))
			require.Equal(t, fsfake.Result{}, m.Do(a, fsfake.Op{Call: fsfake.CallOpenFIFO, FD: 3}))
		}
	}
}
