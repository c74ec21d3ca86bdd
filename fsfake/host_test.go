package fsfake

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// The flags of macOS mean to the fake what they mean there.
func TestFlagsOfAnotherSystem(t *testing.T) {
	darwin := []flagPair{
		{O_WRONLY, 1}, {O_RDWR, 2}, {O_CREAT, 0x200}, {O_EXCL, 0x800}, {O_TRUNC, 0x400}, {O_APPEND, 8}, {O_SYNC, 0x80},
	}
	for _, c := range []struct{ host, want int }{
		{0, O_RDONLY},
		{1 | 0x200 | 0x400, O_WRONLY | O_CREAT | O_TRUNC},
		{2 | 0x200 | 0x800 | O_CLOEXEC, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC},
		{1 | 8 | O_NOFOLLOW, O_WRONLY | O_APPEND | O_NOFOLLOW},
		{2 | 0x80 | O_TMPFILE, O_RDWR | O_SYNC | O_TMPFILE},
	} {
		require.Equal(t, c.want, flagsFrom(c.host, darwin), "%#x", c.host)
	}
}

// A Proc speaks the constants of package os and syscall, whatever system this is; under
// Linux they are the fake's.
func TestHostConstants(t *testing.T) {
	for _, p := range hostFlags {
		if runtime.GOOS == "linux" {
			require.Equal(t, p.host, p.fake)
		}
	}
	for _, n := range hostErrnos {
		if runtime.GOOS == "linux" {
			require.Equal(t, n.host, n.errno, ErrnoName(n.errno))
		}
		require.Equal(t, n.host, errnoFor(n.errno), ErrnoName(n.errno))
	}
	m := New(Options{})
	port := hostPort{directPort{m, Task{Pid: 1}}}
	p := &Proc{port: port, pid: 1}
	_, err := p.OpenFile("/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	require.NoError(t, err)
	_, err = p.OpenFile("/f", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	require.True(t, errors.Is(err, fs.ErrExist) && errors.Is(err, syscall.EEXIST))
	require.Equal(t, EEXIST, p.Do(Op{Call: CallOpen, Path: "/f", Flags: O_CREAT | O_EXCL}).Errno, "an Op is the fake's")
}

func TestErrnoName(t *testing.T) {
	for e, want := range map[syscall.Errno]string{
		ENOENT: "ENOENT", EAGAIN: "EWOULDBLOCK", 41: "errno 41", 61: "ENODATA", 117: "EUCLEAN", 133: "EHWPOISON",
		0: "errno 0", 134: "errno 134",
	} {
		require.Equal(t, want, ErrnoName(e))
	}
}
