package fsfake

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A queue has room for one connection more than listen(2) was asked for: the next would wait, which is not modelled.
func TestConnectFillsTheQueue(t *testing.T) {
	for _, backlog := range []int64{0, 1, 20} {
		m := New(Options{})
		do := func(op Op) Result { return m.Do(Task{Pid: 1}, op) }
		s := do(Op{Call: CallBind, Path: "/s", Mode: 0o777})
		require.True(t, s.OK(), s)
		require.True(t, do(Op{Call: CallListen, FD: int(s.N), Len: backlog}).OK())
		for range backlog + 1 {
			r := do(Op{Call: CallConnect, Path: "/s"})
			require.True(t, r.OK(), r)
		}
		require.Contains(t, do(Op{Call: CallConnect, Path: "/s"}).Unmodelled, "queue of connections is full")
	}
}
