package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestErrorsAreThoseOfPackageOS: the types and texts that callers of package os see.
func TestErrorsAreThoseOfPackageOS(t *testing.T) {
	_, a, _ := pair()
	require.NoError(t, a.Mkdir("/d", 0o755))
	for _, tt := range []struct {
		err  error
		is   error
		text string
	}{
		{second(a.Open("/none")), fs.ErrNotExist, "open /none: no such file or directory"},
		{second(a.Stat("/none")), fs.ErrNotExist, "stat /none: no such file or directory"},
		{second(a.Readlink("/d")), syscall.EINVAL, "readlink /d: invalid argument"},
		{a.Mkdir("/d", 0o755), fs.ErrExist, "mkdir /d: file exists"},
		{a.Remove("/none"), fs.ErrNotExist, "remove /none: no such file or directory"},
		{a.Rename("/none", "/x"), fs.ErrNotExist, "rename /none /x: no such file or directory"},
		{a.Link("/none", "/x"), fs.ErrNotExist, "link /none /x: no such file or directory"},
		{a.Symlink("t", "/d"), fs.ErrExist, "symlink t /d: file exists"},
		{a.Kill(999), syscall.ESRCH, "no such process"},
		{a.NewFile(9, "f").Close(), syscall.EBADF, "close f: bad file descriptor"},
	} {
		require.ErrorIs(t, tt.err, tt.is)
		require.EqualError(t, tt.err, tt.text)
	}
	var pe *fs.PathError
	require.ErrorAs(t, second(a.Open("/none")), &pe)
	var le *os.LinkError
	require.ErrorAs(t, a.Link("/none", "/x"), &le)
	require.Zero(t, Errno(errors.New("x")))
}

// TestErrorsAreThoseOfPackageSyscall: what package os does not have answers with bare errnos,
// which programs compare with ==, as gofrs/flock does.
func TestErrorsAreThoseOfPackageSyscall(t *testing.T) {
	_, a, b := pair()
	require.True(t, a.Kill(999) == syscall.ESRCH)
	f, err := a.OpenFile("/f", os.O_RDWR|os.O_CREATE, 0o640)
	require.NoError(t, err)
	g, err := b.OpenFile("/f", os.O_RDWR, 0)
	require.NoError(t, err)
	require.NoError(t, f.Flock(LOCK_EX))
	require.NoError(t, f.FcntlLock(RecordLock{Type: F_WRLCK}, false))
	require.True(t, g.Flock(LOCK_EX|LOCK_NB) == syscall.EWOULDBLOCK)
	require.True(t, g.FcntlLock(RecordLock{Type: F_WRLCK}, false) == syscall.EAGAIN)
	require.True(t, g.OFDLock(RecordLock{Type: F_WRLCK}, false) == syscall.EAGAIN)
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Flock(LOCK_EX), os.ErrClosed, "no call was made")
}

func second[T any](_ T, err error) error { return err }

func TestFileMethods(t *testing.T) {
	m, a, _ := pair()
	f, err := a.OpenFile("/f", os.O_RDWR|os.O_CREATE, 0o640)
	require.NoError(t, err)
	require.Equal(t, "/f", f.Name())
	n, err := f.WriteString("hello world")
	require.NoError(t, err)
	require.Equal(t, 11, n)
	n, err = f.WriteAt([]byte("W"), 6)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	b := make([]byte, 5)
	n, err = f.ReadAt(b, 6)
	require.NoError(t, err)
	require.Equal(t, "World", string(b[:n]))
	n, err = f.ReadAt(b, 9)
	require.Equal(t, 2, n)
	require.Equal(t, io.EOF, err)
	_, err = f.Read(b)
	require.Equal(t, io.EOF, err)
	off, err := f.Seek(-5, io.SeekEnd)
	require.NoError(t, err)
	require.EqualValues(t, 6, off)
	n, err = f.Read(b)
	require.NoError(t, err)
	require.Equal(t, "World", string(b[:n]))
	require.NoError(t, f.Truncate(5))
	require.NoError(t, f.Sync())
	mtime := time.Date(2025, 5, 5, 0, 0, 0, 7, time.UTC)
	require.NoError(t, f.Chtimes(mtime, mtime))
	require.NoError(t, f.Chmod(0o600))
	changed, err := a.Stat("/f")
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), changed.Mode())
	require.NoError(t, f.Chmod(0o640))
	require.NoError(t, f.Chown(-1, 7))
	st, err := f.Stat()
	require.NoError(t, err)
	require.Equal(t, "f", st.Name())
	require.EqualValues(t, 5, st.Size())
	require.Equal(t, mtime, st.ModTime())
	require.Equal(t, fs.FileMode(0o640), st.Mode())
	require.False(t, st.IsDir())
	d, err := f.Dup()
	require.NoError(t, err)
	dst, err := d.Stat()
	require.NoError(t, err)
	require.True(t, SameFile(st, dst))
	rst, err := a.Stat("/")
	require.NoError(t, err)
	require.True(t, rst.IsDir())
	require.False(t, SameFile(st, rst))
	require.NoError(t, f.Close())
	id, ok := m.FDInode(101, d.Fd())
	require.True(t, ok)
	v := m.View(id)
	require.Equal(t, "hello", v.Content)
	require.Equal(t, []FDRef{{101, 4}}, v.Openers)
	require.Equal(t, []FDView{{FD: 4, Desc: 1, ID: id, Flags: os.O_RDWR, Offset: 11, Shared: 1}}, m.FDs(101))
}

func TestRecordLockMethods(t *testing.T) {
	m, a, b := pair()
	fa, _ := a.Create("/f")
	fb, _ := b.Create("/f")
	lock := RecordLock{Type: F_WRLCK, Start: 2, Len: 3}
	require.NoError(t, fa.FcntlLock(lock, false))
	got, err := fb.FcntlGetLock(RecordLock{Type: F_RDLCK})
	require.NoError(t, err)
	require.Equal(t, RecordLock{Type: F_WRLCK, Start: 2, Len: 3, Pid: 101}, got)
	require.Equal(t, syscall.EAGAIN, Errno(fb.OFDLock(lock, false)))
	lock.Start = 5
	require.NoError(t, fb.OFDLock(lock, true))
	got, err = fa.OFDGetLock(RecordLock{Type: F_RDLCK, Start: 5})
	require.NoError(t, err)
	require.Equal(t, RecordLock{Type: F_WRLCK, Start: 5, Len: 3, Pid: -1}, got)
	id, _ := m.Lookup("/f")
	require.Equal(t, []RecordView{
		{Lock: RecordLock{Type: F_WRLCK, Start: 2, Len: 3, Pid: 101}},
		{Lock: RecordLock{Type: F_WRLCK, Start: 5, Len: 3, Pid: -1}, OFD: true, Holders: []FDRef{{102, 3}}},
	}, m.View(id).Records)
}

func TestProcMethods(t *testing.T) {
	m, a, b := pair()
	require.Equal(t, 101, a.Getpid())
	require.NoError(t, a.WriteFile("/f", []byte("x"), 0o644))
	require.NoError(t, a.Chmod("/f", 0o600|fs.ModeSticky))
	st, err := a.Lstat("/f")
	require.NoError(t, err)
	require.Equal(t, 0o600|fs.ModeSticky, st.Mode())
	require.NoError(t, a.Truncate("/f", 0))
	when := time.Unix(7, 0).UTC()
	require.NoError(t, a.Chtimes("/f", when, when))
	st, err = a.Stat("/f")
	require.NoError(t, err)
	require.Equal(t, when, st.ModTime())
	require.NoError(t, a.Rename2("/f", "/g", RENAME_NOREPLACE))
	require.NoError(t, a.Mkdir("/d", 0o755))
	require.NoError(t, a.Rmdir("/d"))
	tmp, err := a.OpenFile("/tmp", os.O_RDWR|O_TMPFILE, 0o600)
	require.NoError(t, err)
	require.NoError(t, tmp.LinkTo("/named"))
	require.Equal(t, syscall.EEXIST, Errno(tmp.LinkTo("/g")))
	start, err := b.StartTime(101)
	require.NoError(t, err)
	require.Zero(t, start)
	require.NoError(t, b.Kill(101))
	a.Work()
	a.Exit()
	require.False(t, m.Alive(101))
	require.Equal(t, []int{1, 102}, m.Pids())
}

// TestReadFileOfAnySize: ReadFile makes the calls that os.ReadFile makes, and gets it all.
func TestReadFileOfAnySize(t *testing.T) {
	_, a, _ := pair()
	for _, n := range []int{0, 1, 511, 512, 513, 5000} {
		want := make([]byte, n)
		require.NoError(t, a.WriteFile("/f", want, 0o644))
		got, err := a.ReadFile("/f")
		require.NoError(t, err)
		require.Equal(t, want, append([]byte{}, got...))
	}
}

// A process's clock may be ahead of the one that stamps files; its children have it too.
func TestSkew(t *testing.T) {
	m := New(Options{})
	m.AddProc(ProcSpec{Pid: 101, Skew: time.Minute})
	m.AddProc(ProcSpec{Pid: 102, Skew: -time.Hour})
	require.Equal(t, time.Minute, m.Proc(101).Now().Sub(m.Now()))
	require.Equal(t, -time.Hour, m.Proc(102).Now().Sub(m.Now()))
	require.NoError(t, m.Proc(101).WriteFile("/f", nil, 0o644))
	st, err := m.Proc(102).Stat("/f")
	require.NoError(t, err)
	require.Equal(t, m.Now(), st.ModTime())
	child := m.Do(Task{101, 1}, Op{Call: CallFork}).N
	require.Equal(t, time.Minute, m.Proc(int(child)).Now().Sub(m.Now()))
	m.Advance(-time.Second)
	require.Equal(t, time.Minute, m.Proc(101).Now().Sub(m.Now()))
}

// A clock that is set back makes later stamps older; who sleeps has as much to sleep as before, and
// what started started when it did.
func TestSetBack(t *testing.T) {
	m := New(Options{})
	m.AddProc(ProcSpec{Pid: 101})
	m.AddProc(ProcSpec{Pid: 102})
	m.LetSleepsLast()
	a, begun := Task{101, 1}, m.Now()
	nap := Op{Call: CallSleep, Time: int64(time.Minute)}
	require.True(t, m.Do(a, nap).Blocked)
	key := m.AppendKey(nil)
	m.Stall(-time.Hour, 0)
	require.NotEqual(t, key, m.AppendKey(nil))
	require.False(t, m.Do(a, nap).Blocked)
	require.Equal(t, begun.Add(time.Minute-time.Hour), m.Now())
	require.NoError(t, m.Proc(102).WriteFile("/f", nil, 0o644))
	st, err := m.Proc(102).Stat("/f")
	require.NoError(t, err)
	require.True(t, st.ModTime().Before(begun))
	child := int(m.Do(Task{102, 1}, Op{Call: CallFork}).N)
	require.EqualValues(t, 60*ticksPerSecond, m.Do(a, Op{Call: CallStartTime, Pid: child}).N)
}
