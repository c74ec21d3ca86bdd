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
			require.Equal(t, c.shut, m.Shut(op))
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
