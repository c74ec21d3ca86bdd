package fsfake

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathLimits(t *testing.T) {
	long := strings.Repeat("x", 255)
	for _, tt := range []struct {
		name, path string
		want       syscall.Errno
	}{
		{"the longest name", "/" + long, syscall.ENOENT},
		{"a longer one", "/" + long + "x", syscall.ENAMETOOLONG},
		{"a longer one below nothing", "/none/" + long + "x", syscall.ENOENT},
		{"a longer one below a file", "/f/" + long + "x", syscall.ENOTDIR},
		{"the longest path", strings.Repeat("/", 4094) + "f", 0},
		{"a longer one", strings.Repeat("/", 4095) + "f", syscall.ENAMETOOLONG},
		{"40 links", "/l40", 0},
		{"41 links", "/l41", syscall.ELOOP},
		{"41 links on the way", "/l41/x", syscall.ELOOP},
		{"NUL", "/f\x00", syscall.EINVAL},
		{"nothing", "", syscall.ENOENT},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, a, _ := pair()
			require.NoError(t, a.WriteFile("/f", nil, 0o644))
			require.NoError(t, a.Symlink("/f", "/l1"))
			for i := 2; i <= 41; i++ {
				require.NoError(t, a.Symlink(fmt.Sprintf("/l%d", i-1), fmt.Sprintf("/l%d", i)))
			}
			_, err := a.Stat(tt.path)
			require.Equal(t, tt.want, Errno(err))
			_, err = a.OpenFile(tt.path, os.O_RDONLY|O_CLOEXEC, 0)
			require.Equal(t, tt.want, Errno(err))
		})
	}
}

func TestDescriptorLimit(t *testing.T) {
	_, a, _ := pair()
	f, err := a.Create("/f")
	require.NoError(t, err)
	require.Equal(t, 3, f.Fd())
	for fd := 4; fd < maxFDs; fd++ {
		d, err := f.Dup()
		require.NoError(t, err)
		require.Equal(t, fd, d.Fd())
	}
	_, err = f.Dup()
	require.Equal(t, syscall.EMFILE, Errno(err))
	_, err = a.Open("/none")
	require.Equal(t, syscall.EMFILE, Errno(err), "the descriptor comes first")
	require.NoError(t, a.NewFile(500, "/f").Close())
	d, err := f.Dup()
	require.NoError(t, err)
	require.Equal(t, 500, d.Fd(), "the lowest free one")
}

// TestNotModelled: what the machine does not know it says, and does not change.
func TestNotModelled(t *testing.T) {
	for _, tt := range []struct {
		op   Op
		want string
	}{
		{Op{Call: CallOpen, Path: "/f", Flags: O_DIRECT}, "open with flags 0x4000 is not modelled"},
		{Op{Call: CallSetfl, FD: 3, Flags: O_DIRECT}, "O_DIRECT is not modelled"},
		{Op{Call: CallDup, FD: 3, Flags: O_APPEND}, "dup with flags 0x400 is not modelled"},
		{Op{Call: CallOpen, Path: "/f", Flags: 3}, "open with O_WRONLY|O_RDWR is not modelled"},
		{Op{Call: CallRename, Path: "/f", Path2: "/g", Flags: RENAME_WHITEOUT}, "RENAME_WHITEOUT is not modelled"},
		{Op{Call: CallLink, Path: "/f", Path2: "/g", Flags: 1}, "linkat with flags 0x1 is not modelled"},
		{Op{Call: CallLseek, FD: 3, Off: 1 << 41}, "a file offset beyond 1 TiB is not modelled"},
		{Op{Call: CallFtruncate, FD: 3, Len: 1 << 30}, "a file of more than 16777216 bytes is not modelled"},
		{Op{Call: CallTruncate, Path: "/f", Len: 1 << 30}, "a file of more than 16777216 bytes is not modelled"},
		{Op{Call: CallPwrite, FD: 3, Data: "x", Off: 1 << 30}, "a file of more than 16777216 bytes is not modelled"},
		{Op{Call: CallLseek, FD: 4, Flags: io.SeekEnd}, "lseek in a directory but to its start is not modelled"},
		{Op{Call: CallWrite, FD: 1, Data: "x"}, "write of a standard stream is not modelled"},
		{Op{Call: CallKill, Pid: -1}, "kill of a process group that is not one's own is not modelled"},
		{Op{Call: CallNone}, "none is not modelled"},
		{Op{Call: numCalls}, "call(" + fmt.Sprint(int(numCalls)) + ") is not modelled"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			m, a, _ := pair()
			_, err := a.Create("/f")
			require.NoError(t, err)
			_, err = a.Open("/")
			require.NoError(t, err)
			key := string(m.AppendKey(nil))
			r := m.Do(Task{101, 1}, tt.op)
			require.Equal(t, tt.want, r.Unmodelled)
			require.False(t, r.OK())
			require.Equal(t, key, string(m.AppendKey(nil)))
			require.PanicsWithValue(t, "fsfake: "+tt.want, func() { a.Do(tt.op) })
		})
	}
	require.Panics(t, func() { New(Options{Profile: NFS}) })
}

func TestMisuse(t *testing.T) {
	m, a, _ := pair()
	f, err := a.Create("/f")
	require.NoError(t, err)
	require.Panics(t, func() { m.AddProc(ProcSpec{Pid: 101}) })
	require.Panics(t, func() { m.AddProc(ProcSpec{}) })
	require.Panics(t, func() { m.AddProc(ProcSpec{Pid: 104, Cwd: "/f"}) })
	require.Panics(t, func() { m.Interrupt(Task{101, 1}) })
	require.NoError(t, f.Flock(LOCK_EX))
	g, err := a.Open("/f")
	require.NoError(t, err)
	require.PanicsWithValue(t, "fsfake: flock of process 101 blocks", func() { _ = g.Flock(LOCK_EX) })
	require.Panics(t, func() { Cell[*int]{"p"}.Store(a, new(int)) })
	m.KillProc(777)
}

// TestDeadlockDepth: the kernel looks through ten waiters, no further.
func TestDeadlockDepth(t *testing.T) {
	for _, tt := range []struct {
		procs int
		found bool
	}{{2, true}, {5, true}, {12, true}, {13, false}} {
		m := New(Options{})
		fd := make([]int, tt.procs)
		for i := range tt.procs {
			m.AddProc(ProcSpec{Pid: 101 + i})
			f, err := m.Proc(101+i).OpenFile("/f", os.O_RDWR|os.O_CREATE, 0o644)
			require.NoError(t, err)
			fd[i] = f.Fd()
			require.NoError(t, f.FcntlLock(RecordLock{Type: F_WRLCK, Start: int64(i), Len: 1}, false))
		}
		for i := range tt.procs {
			next := int64((i + 1) % tt.procs)
			r := m.Do(Task{101 + i, 1}, Op{Call: CallSetlk, FD: fd[i], Flags: F_WRLCK, Off: next, Len: 1, Wait: true})
			if i < tt.procs-1 || !tt.found {
				require.True(t, r.Blocked)
			} else {
				require.Equal(t, syscall.EDEADLK, r.Errno)
			}
		}
	}
}

func TestInodeNumbers(t *testing.T) {
	for _, tt := range []struct {
		policy InodePolicy
		again  bool // a number returns
	}{{InodesCanonical, false}, {InodesReuse, true}, {InodesUnique, false}} {
		m := trio(tt.policy)
		ino := func(pid int, path string) uint64 {
			r := m.Do(Task{pid, 1}, Op{Call: CallStat, Path: path})
			require.True(t, r.OK())
			return r.Stat.Ino
		}
		a, b := m.Proc(101), m.Proc(102)
		require.NoError(t, a.WriteFile("/f", nil, 0o644))
		first := ino(101, "/f")
		require.Equal(t, first, ino(101, "/f"))
		f, err := b.Open("/f")
		require.NoError(t, err)
		require.NoError(t, a.Remove("/f"))
		require.NoError(t, a.WriteFile("/f", nil, 0o644))
		require.NotEqual(t, first, ino(101, "/f"), "an open descriptor pins the number")
		require.NoError(t, f.Close())
		require.NoError(t, a.Remove("/f"))
		require.NoError(t, a.WriteFile("/f", nil, 0o644))
		require.Equal(t, tt.again, first == ino(101, "/f"))
	}
}
