package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Who is taken out of a call is in nobody's way, and the call is made anew as if for the first time:
// what the kernel does with SA_RESTART, and Interrupt and the same call again do here.
func TestTakeOut(t *testing.T) {
	m, a, b := pair()
	first := Task{101, 1}
	require.NoError(t, a.WriteFile("/f", nil, 0o644))
	for _, p := range []*Proc{a, b} {
		_, err := p.OpenFile("/f", os.O_RDWR, 0)
		require.NoError(t, err)
	}
	untaken := m.AppendKey(nil)
	m.TakeOut(first)
	m.TakeOut(Task{999, 1})
	require.Equal(t, untaken, m.AppendKey(nil), "who waits for nothing stays as he is")

	for name, op := range map[string]Op{
		"flock":  {Call: CallFlock, FD: 3, Flags: LOCK_EX},
		"record": {Call: CallSetlk, FD: 3, Flags: F_WRLCK, Wait: true},
		"cell":   {Call: CallCellWait, Cell: "c"},
	} {
		m := m.Clone()
		if name != "cell" {
			require.Zero(t, m.Do(Task{102, 1}, op).Errno)
		}
		before := m.AppendKey(nil)
		require.True(t, m.Do(first, op).Blocked)
		waiting := m.AppendKey(nil)
		m.TakeOut(first)
		require.Equal(t, before, m.AppendKey(nil), name)
		_, waits := m.Blocked(first)
		require.False(t, waits)
		require.True(t, m.Do(first, op).Blocked)
		require.Equal(t, waiting, m.AppendKey(nil), name)
	}
}
