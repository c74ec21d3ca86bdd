package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUntouched(t *testing.T) {
	m := New(Options{})
	m.AddProc(ProcSpec{Pid: 101})
	require.NoError(t, m.Proc(101).WriteFile("/f", []byte("x"), 0o644))
	task := Task{Pid: 101, N: 1}
	for _, c := range []struct {
		op   Op
		want bool
	}{
		{Op{Call: CallOpen, Path: "/f", Flags: os.O_CREATE | os.O_EXCL}, true},
		{Op{Call: CallUnlink, Path: "/none"}, true},
		{Op{Call: CallWork}, true},
		{Op{Call: CallStart, Len: 2}, false},
		{Op{Call: CallKill, Pid: 101}, true},
		{Op{Call: CallOpen, Path: "/f"}, false},
		{Op{Call: CallUnlink, Path: "/f"}, false},
		{Op{Call: CallCellStore, Cell: "c", Value: 1}, false},
		{Op{Call: CallCellCAS, Cell: "c", Value: Swap{New: 1}}, false},
		{Op{Call: CallCellCAS, Cell: "c", Value: Swap{Old: 2, New: 1}}, true},
		{Op{Call: CallExit}, false},
	} {
		k := m.Clone()
		k.Do(task, c.op)
		require.Equal(t, c.want, k.Untouched(m), c.op.String())
		if k.Untouched(m) {
			require.Equal(t, m.AppendKey(nil), k.AppendKey(nil))
		}
	}
	k := m.Clone()
	k.Advance(1)
	require.False(t, k.Untouched(m))
	k = m.Clone()
	k.Mark(task, "/f", "/f", 1)
	require.False(t, k.Untouched(m))
}
