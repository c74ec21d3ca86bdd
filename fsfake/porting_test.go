package fsfake

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What a Proc and a File once answered otherwise than package os does. Package osfs compares
// the two by drawn sequences.

// The descriptor of a closed file is soon another file's. A second Close, as in a deferred
// one after an early one, must leave that alone.
func TestSecondCloseIsHarmless(t *testing.T) {
	m, a, b := pair()
	config, err := a.Create("/config")
	require.NoError(t, err)
	require.NoError(t, config.Close())
	lock, err := a.Create("/lock")
	require.NoError(t, err)
	require.NoError(t, lock.Flock(LOCK_EX|LOCK_NB))
	require.ErrorIs(t, config.Close(), fs.ErrClosed)
	other, err := b.Open("/lock")
	require.NoError(t, err)
	require.Equal(t, syscall.EWOULDBLOCK, Errno(other.Flock(LOCK_EX|LOCK_NB)), "the lock has gone with another file's second Close")

	before := string(m.AppendKey(nil))
	_, err = config.WriteString("x")
	require.ErrorIs(t, err, fs.ErrClosed)
	require.ErrorIs(t, config.Truncate(0), fs.ErrClosed)
	require.ErrorIs(t, config.Flock(LOCK_UN), fs.ErrClosed)
	require.ErrorIs(t, config.FcntlLock(RecordLock{}, false), fs.ErrClosed)
	require.ErrorIs(t, config.LinkTo("/x"), fs.ErrClosed)
	require.Equal(t, before, string(m.AppendKey(nil)))
	require.Equal(t, -1, config.Fd())
}

// os.Rename does not replace a directory, where rename(2) replaces an empty one.
func TestRenameOntoADirectory(t *testing.T) {
	_, a, _ := pair()
	require.NoError(t, a.Mkdir("/new", 0o755))
	require.NoError(t, a.Mkdir("/lock", 0o755))
	require.NoError(t, a.WriteFile("/file", nil, 0o644))
	for old, want := range map[string]syscall.Errno{"/new": syscall.EEXIST, "/file": syscall.EEXIST, "/lock": syscall.EEXIST, "/none": syscall.ENOENT} {
		err := a.Rename(old, "/lock")
		require.Equal(t, &os.LinkError{Op: "rename", Old: old, New: "/lock", Err: want}, err)
	}
	require.NoError(t, a.Rename2("/new", "/lock", 0))
}

func TestChtimesWithoutATime(t *testing.T) {
	_, a, _ := pair()
	require.NoError(t, a.WriteFile("/f", nil, 0o644))
	then := time.Unix(1000, 0).UTC()
	require.NoError(t, a.Chtimes("/f", then, then))
	require.NoError(t, a.Chtimes("/f", then.Add(time.Hour), time.Time{}))
	fi, err := a.Stat("/f")
	require.NoError(t, err)
	require.Equal(t, then, fi.ModTime())
	require.Equal(t, then.Add(time.Hour).UnixNano(), fi.Sys().(*Stat).Atime)
	require.NoError(t, a.Chtimes("/none", time.Time{}, time.Time{}), "the kernel does not look")
}

func TestPatternsOfTemporaryNames(t *testing.T) {
	_, a, _ := pair()
	f, err := a.CreateTemp("", "a*b*c")
	require.NoError(t, err)
	name := path.Base(f.Name())
	require.True(t, strings.HasPrefix(name, "a*b") && strings.HasSuffix(name, "c"), name)
	_, err = a.CreateTemp("/tmp", "x/y*")
	require.EqualError(t, err, "createtemp x/y*: pattern contains path separator")
	_, err = a.MkdirTemp("/none", "x")
	require.EqualError(t, err, "stat /none: no such file or directory")
}

func TestFileRefusesWhatPackageOSRefuses(t *testing.T) {
	_, a, _ := pair()
	f, err := a.OpenFile("/f", os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("x"), 0)
	require.EqualError(t, err, "os: invalid use of WriteAt on file opened with O_APPEND")
	_, err = f.ReadAt(make([]byte, 1), -1)
	require.EqualError(t, err, "readat /f: negative offset")

	f = nil
	_, err = f.Read(nil)
	require.Equal(t, os.ErrInvalid, err)
	_, err = f.Stat()
	require.Equal(t, os.ErrInvalid, err)
	require.Equal(t, os.ErrInvalid, f.Close())
	require.Equal(t, os.ErrInvalid, f.Flock(LOCK_EX))
	require.Equal(t, -1, f.Fd())
	require.Nil(t, a.NewFile(-1, "none"))
}

// What a function looks at for itself is not shown to the program, which cannot remember it.
func TestNoNumberIsShownInPassing(t *testing.T) {
	m, a, _ := pair()
	require.NoError(t, a.WriteFile("/new", nil, 0o644))
	require.NoError(t, a.WriteFile("/old", nil, 0o644))
	seen := len(m.proc(101).seen)
	require.NoError(t, a.Rename("/new", "/old"))
	require.NoError(t, a.MkdirAll("/d/e", 0o755))
	require.NoError(t, a.MkdirAll("/d/e", 0o755))
	_, err := a.ReadFile("/old")
	require.NoError(t, err)
	require.Len(t, m.proc(101).seen, seen)
}
