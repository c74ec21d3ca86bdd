package fsfake

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// A name is looked up as itself; the tree lists every name once, and goes through no
// symlink.
func TestLookAtNames(t *testing.T) {
	m, a, _ := pair()
	require.NoError(t, a.Mkdir("/run", 0o755))
	require.NoError(t, a.WriteFile("/run/lock", nil, 0o644))
	require.NoError(t, a.Symlink("lock", "/run/link"))
	require.NoError(t, a.Symlink("run", "/alias"))
	require.NoError(t, a.Link("/run/lock", "/second"))

	file, ok := m.LookupName("/run/lock")
	require.True(t, ok)
	link, ok := m.LookupName("/alias/link")
	require.True(t, ok)
	require.Equal(t, KindSymlink, m.View(link).Kind)
	through, ok := m.Lookup("/alias/link")
	require.True(t, ok)
	require.Equal(t, file, through)
	_, ok = m.LookupName("/run/none")
	require.False(t, ok)

	var names []string
	for _, n := range m.Tree() {
		names = append(names, n.Path)
		id, ok := m.LookupName(n.Path)
		require.True(t, ok)
		require.Equal(t, id, n.ID)
	}
	require.Equal(t, []string{"/", "/alias", "/run", "/run/link", "/run/lock", "/second", "/tmp"}, names)
}

// Whose locks stand in the way of a call, whether it waits or is about to be made.
func TestInTheWay(t *testing.T) {
	m, a, b := pair()
	mine, err := a.OpenFile("/lock", os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	yours, err := b.OpenFile("/lock", os.O_RDWR, 0)
	require.NoError(t, err)
	ta, tb := Task{Pid: 101, N: 1}, Task{Pid: 102, N: 1}
	flock := func(how int) Op { return Op{Call: CallFlock, FD: 3, Flags: how} }
	setlk := func(c Call, typ int, off, n int64) Op {
		return Op{Call: c, FD: 3, Flags: typ, Off: off, Len: n, Wait: true}
	}

	require.NoError(t, mine.Flock(LOCK_SH))
	_, err = mine.Dup()
	require.NoError(t, err)
	both := []FDRef{{101, 3}, {101, 4}}
	require.Equal(t, both, m.InTheWay(tb, flock(LOCK_EX|LOCK_NB)))
	require.Empty(t, m.InTheWay(tb, flock(LOCK_SH)))
	require.Empty(t, m.InTheWay(ta, flock(LOCK_EX)), "nobody is in one's own way")
	require.Empty(t, m.InTheWay(tb, flock(LOCK_UN)))

	require.True(t, m.Do(tb, flock(LOCK_EX)).Blocked)
	id, ok := m.WaitsOn(tb)
	require.True(t, ok)
	want, _ := m.FDInode(101, 3)
	require.Equal(t, want, id)
	require.NoError(t, yours.Close())
	require.Equal(t, both, m.InTheWay(tb, flock(LOCK_EX)), "the call keeps what it waits for")
	_, ok = m.WaitsOn(ta)
	require.False(t, ok)

	m, a, b = pair()
	mine, err = a.OpenFile("/lock", os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	_, err = b.OpenFile("/lock", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, mine.FcntlLock(RecordLock{Type: F_RDLCK, Len: 10}, false))
	require.NoError(t, mine.OFDLock(RecordLock{Type: F_WRLCK, Start: 20, Len: 1}, false))
	require.Equal(t, []FDRef{{101, -1}}, m.InTheWay(tb, setlk(CallSetlk, F_WRLCK, 5, 1)))
	require.Empty(t, m.InTheWay(tb, setlk(CallSetlk, F_RDLCK, 5, 1)))
	require.Empty(t, m.InTheWay(tb, setlk(CallSetlk, F_UNLCK, 0, 0)))
	require.Equal(t, []FDRef{{101, -1}, {101, 3}}, m.InTheWay(tb, setlk(CallOFDSetlk, F_WRLCK, 0, 0)))
	require.Empty(t, m.InTheWay(tb, Op{Call: CallRead, FD: 3}))
	require.Empty(t, m.InTheWay(tb, Op{Call: CallFlock, FD: 9, Flags: LOCK_EX}))
	require.Empty(t, m.InTheWay(Task{Pid: 7, N: 1}, flock(LOCK_EX)))
}
