package fsfake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A way whose call waits is shut as long as the lock would not be granted at once. One that would give another lock
// back before it waits is open, and says so.
func TestWaysThatWait(t *testing.T) {
	const ex, sh = fsfake.LOCK_EX, fsfake.LOCK_SH
	for _, c := range []struct {
		name               string
		held, own, asks    int
		shut               uint64
		converts, sameFile bool
	}{
		{name: "free", asks: ex, sameFile: true},
		{name: "held", held: ex, asks: ex, shut: 2, sameFile: true},
		{name: "shared by both", held: sh, asks: sh, sameFile: true},
		{name: "another file", held: ex, asks: ex},
		{name: "its own", own: ex, asks: ex, sameFile: true},
		{name: "upgraded beside another", held: sh, own: sh, asks: ex, converts: true, sameFile: true},
		{name: "upgraded alone", own: sh, asks: ex, sameFile: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fsfake.New(fsfake.Options{})
			holder, waiter := fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}
			m.AddProc(fsfake.ProcSpec{Pid: 101})
			m.AddProc(fsfake.ProcSpec{Pid: 102})
			other := "g"
			if c.sameFile {
				other = "f"
			}
			do := func(who fsfake.Task, op fsfake.Op) fsfake.Result {
				r := m.Do(who, op)
				require.Empty(t, r.Unmodelled)
				return r
			}
			open := func(who fsfake.Task, name string) int {
				op := fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_CREAT | fsfake.O_RDWR, Mode: 0o600}
				return int(do(who, op).N)
			}
			x, y := open(holder, "/f"), open(waiter, "/"+other)
			if c.held != 0 {
				do(holder, fsfake.Op{Call: fsfake.CallFlock, FD: x, Flags: c.held})
			}
			if c.own != 0 {
				do(waiter, fsfake.Op{Call: fsfake.CallFlock, FD: y, Flags: c.own})
			}
			waits := fsfake.WayThatWaits(waiter, fsfake.Op{Call: fsfake.CallFlock, FD: y, Flags: c.asks})
			op := fsfake.Op{Call: fsfake.CallChoose, Len: 2, Data: strings.Join([]string{"work", waits}, "\n")}
			require.Equal(t, c.shut, m.Shut(fsfake.Task{Pid: 1, N: 1}, op))
			asked := fsfake.Op{Call: fsfake.CallFlock, FD: y, Flags: c.asks}
			require.Equal(t, []fsfake.WaitingCall{{Task: waiter, Op: asked}}, op.Waiting())
			before := m.AppendKey(nil)
			r := do(waiter, op.Way(1))
			require.Equal(t, c.shut != 0, r.Blocked)
			require.Equal(t, c.converts, r.Value == any(fsfake.Converts{}))
			require.Equal(t, before, m.AppendKey(nil), "nobody has begun to wait")
			way := op.Way(1)
			require.Contains(t, way.String(), "go on with flock")
			require.NotContains(t, way.String(), "\x00")
		})
	}
}

// The wait for a record lock is a way like any other, unless its process has one: who closes a circle is told so when
// the wait begins.
func TestWaysThatWaitForRecords(t *testing.T) {
	const whole, first = 0, 1 // how many bytes the holder has locked
	for _, c := range []struct {
		name  string
		call  fsfake.Call
		held  int64
		at    int64
		flags int
		own   bool
		shut  bool
		waits bool
	}{
		{name: "held", call: fsfake.CallSetlk, held: whole, flags: fsfake.O_RDWR, shut: true},
		{name: "held of the description", call: fsfake.CallOFDSetlk, held: whole, flags: fsfake.O_RDWR, shut: true},
		{name: "another byte", call: fsfake.CallSetlk, held: first, at: 1, flags: fsfake.O_RDWR},
		{name: "has another", call: fsfake.CallSetlk, held: whole, flags: fsfake.O_RDWR, own: true, waits: true},
		{name: "has another, waits by the description", call: fsfake.CallOFDSetlk, held: whole, flags: fsfake.O_RDWR,
			own: true, shut: true},
		{name: "not open for writing", call: fsfake.CallSetlk, held: whole, flags: fsfake.O_RDONLY}, // EBADF, at once
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fsfake.New(fsfake.Options{})
			holder, waiter := fsfake.Task{Pid: 101, N: 1}, fsfake.Task{Pid: 102, N: 1}
			do := func(who fsfake.Task, op fsfake.Op) int {
				r := m.Do(who, op)
				require.True(t, r.OK(), r)
				return int(r.N)
			}
			open := func(who fsfake.Task, name string, flags int) int {
				return do(who, fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_CREAT | flags, Mode: 0o600})
			}
			lock := func(call fsfake.Call, fd int, off, size int64) fsfake.Op {
				return fsfake.Op{Call: call, FD: fd, Flags: fsfake.F_WRLCK, Off: off, Len: size, Wait: true}
			}
			m.AddProc(fsfake.ProcSpec{Pid: 101})
			m.AddProc(fsfake.ProcSpec{Pid: 102})
			do(holder, lock(fsfake.CallSetlk, open(holder, "/f", fsfake.O_RDWR), 0, c.held))
			if c.own {
				do(waiter, lock(fsfake.CallSetlk, open(waiter, "/g", fsfake.O_RDWR), 0, 0))
			}
			asked := lock(c.call, open(waiter, "/f", c.flags), c.at, 1)
			waits := fsfake.WayThatWaits(waiter, asked)
			timer := fsfake.WayOfTimer(fsfake.Op{Call: fsfake.CallSleep, Time: 5})
			op := fsfake.Op{Call: fsfake.CallChoose, Len: 2, Data: waits + "\n" + timer}
			require.Equal(t, []fsfake.WaitingCall{{Task: waiter, Op: asked}}, op.Waiting())
			want := uint64(2) // the timer does not go off where the lock is to be had
			if c.shut {
				want = 1
			}
			require.Equal(t, want, m.Shut(fsfake.Task{Pid: 1, N: 1}, op))
			require.Equal(t, c.waits, m.Do(waiter, op.Way(0)).Value == any(fsfake.MustWait{}))
			way := op.Way(1)
			require.NotContains(t, way.String(), "\x00")
		})
	}
}
