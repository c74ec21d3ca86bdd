package fsfake

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// pair returns a machine with two processes of root, 101 and 102.
func pair() (*Machine, *Proc, *Proc) {
	m := New(Options{})
	m.AddProc(ProcSpec{Pid: 101})
	m.AddProc(ProcSpec{Pid: 102})
	return m, m.Proc(101), m.Proc(102)
}

func TestExclusiveCreate(t *testing.T) {
	_, a, b := pair()
	f, err := a.OpenFile("/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = b.OpenFile("/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = f.WriteString("101")
	require.NoError(t, err)
	got, err := b.ReadFile("/lock")
	require.NoError(t, err)
	require.Equal(t, "101", string(got))
	require.NoError(t, b.Remove("/lock"))
	st, err := f.Stat()
	require.NoError(t, err)
	require.Zero(t, st.Sys().(*Stat).Nlink)
}

func TestComposites(t *testing.T) {
	m, a, _ := pair()
	require.NoError(t, a.MkdirAll("/x/y/z", 0o755))
	require.NoError(t, a.WriteFile("/x/y/z/f", []byte("hello"), 0o600))
	names, err := a.ReadDir("/x/y/z")
	require.NoError(t, err)
	require.Equal(t, []string{"f"}, names)
	tmp, err := a.CreateTemp("/x", "t-*.tmp")
	require.NoError(t, err)
	require.NoError(t, tmp.Close())
	require.NoError(t, a.Rename(tmp.Name(), "/x/y/z/f"))
	id, ok := m.Lookup("/x/y/z/f")
	require.True(t, ok)
	require.Equal(t, "", m.View(id).Content)
	require.Equal(t, []string{"/x/y/z/f"}, m.Paths(id))
	require.Empty(t, m.FDs(101))
}

func TestBlockedFlock(t *testing.T) {
	m, a, b := pair()
	fa, _ := a.Create("/l")
	fb, _ := b.Create("/l")
	require.NoError(t, fa.Flock(LOCK_EX))
	task := Task{102, 1}
	op := Op{Call: CallFlock, FD: fb.Fd(), Flags: LOCK_EX}
	require.True(t, m.Ready(task, op))
	require.True(t, m.Do(task, op).Blocked)
	require.False(t, m.Ready(task, op))
	require.True(t, m.Do(task, op).Blocked)
	require.NoError(t, fa.Close())
	require.True(t, m.Ready(task, op))
	require.True(t, m.Do(task, op).OK())
	id, _ := m.Lookup("/l")
	require.Equal(t, []LockView{{LOCK_EX, []FDRef{{102, 3}}}}, m.View(id).Flocks)
}

func TestKillDropsLocksKeepsFiles(t *testing.T) {
	m, a, b := pair()
	fa, _ := a.Create("/l")
	require.NoError(t, fa.Flock(LOCK_EX))
	m.KillProc(101)
	require.False(t, m.Alive(101))
	require.Equal(t, syscall.ESRCH, Errno(b.Kill(101)))
	_, err := b.StartTime(101)
	require.Equal(t, syscall.ENOENT, Errno(err))
	fb, err := b.OpenFile("/l", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, fb.Flock(LOCK_EX|LOCK_NB))
	require.NotEmpty(t, m.Do(Task{101, 1}, Op{Call: CallNow}).Unmodelled)
}

func TestClockMovesOnlyByAdvance(t *testing.T) {
	m, a, _ := pair()
	t0 := a.Now()
	require.Equal(t, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), t0)
	a.Sleep(time.Hour)
	require.Equal(t, t0, a.Now())
	m.Advance(time.Second)
	require.NoError(t, a.WriteFile("/f", nil, 0o644))
	st, err := a.Stat("/f")
	require.NoError(t, err)
	require.Equal(t, t0.Add(time.Second), st.ModTime())
}

func TestCells(t *testing.T) {
	m, a, b := pair()
	c := Cell[int]{Name: "held"}
	require.Zero(t, c.Load(a))
	c.Store(a, 2)
	require.Equal(t, 2, c.Load(a))
	require.Zero(t, c.Load(b), "memory is not shared between processes")
	op := Op{Call: CallCellWait, Cell: "held", Value: 2}
	require.True(t, m.Do(Task{101, 2}, op).Blocked)
	require.False(t, m.Ready(Task{101, 2}, op))
	c.Store(a, 0)
	require.True(t, m.Ready(Task{101, 2}, op))
	require.True(t, m.Do(Task{101, 2}, op).OK())
}

func TestCloneIsIndependent(t *testing.T) {
	m, a, _ := pair()
	require.NoError(t, a.WriteFile("/f", []byte("one"), 0o644))
	c := m.Clone()
	before := string(m.AppendKey(nil))
	require.Equal(t, before, string(c.AppendKey(nil)))
	require.NoError(t, c.Proc(101).WriteFile("/f", []byte("two"), 0o644))
	require.NoError(t, c.Proc(101).Unlink("/f"))
	require.Equal(t, before, string(m.AppendKey(nil)))
	require.NotEqual(t, before, string(c.AppendKey(nil)))
	require.NoError(t, a.Unlink("/f"))
	require.NotEqual(t, string(c.AppendKey(nil)), before)
}
