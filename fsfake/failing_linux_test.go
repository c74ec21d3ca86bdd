package fsfake_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	. "lockpick/fsfake"
	"lockpick/internal/testmain"
)

// What the kernel answers on a file system that is full: where it says that no space is left, so
// can the fake, and the call has done nothing in both.
func TestFullDiskOnTheKernel(t *testing.T) {
	if !testmain.OwnMounts(t, "./fsfake") {
		return
	}
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=4k,nr_inodes=3"); err != nil {
		t.Skipf("SKIPPED: a small file system cannot be mounted here, so that ENOSPC was not compared with the kernel; as root, where tmpfs can be mounted, go test ./fsfake runs it: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	f, g, other := filepath.Join(dir, "f"), filepath.Join(dir, "g"), filepath.Join(dir, "new")
	require.NoError(t, os.WriteFile(f, make([]byte, 4096), 0o644))
	require.NoError(t, os.WriteFile(g, nil, 0o644))
	fd, err := syscall.Open(g, syscall.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { _ = syscall.Close(fd) }()

	for _, c := range []struct {
		name string
		op   Op
		real func() error
		full bool
	}{
		{"create", Op{Call: CallOpen, Path: "/new", Flags: O_WRONLY | O_CREAT | O_EXCL, Mode: 0o644}, func() error {
			_, err := syscall.Open(other, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o644)
			return err
		}, true},
		{"create what is there", Op{Call: CallOpen, Path: "/f", Flags: O_WRONLY | O_CREAT | O_EXCL, Mode: 0o644}, func() error {
			_, err := syscall.Open(f, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o644)
			return err
		}, false},
		{"mkdir", Op{Call: CallMkdir, Path: "/new", Mode: 0o755}, func() error { return syscall.Mkdir(other, 0o755) }, true},
		{"symlink", Op{Call: CallSymlink, Path: "/new", Path2: "f"}, func() error { return syscall.Symlink("f", other) }, true},
		{"link", Op{Call: CallLink, Path: "/f", Path2: "/new"}, func() error { return syscall.Link(f, other) }, true},
		{"write", Op{Call: CallWrite, FD: 3, Data: "x"}, func() error { _, err := syscall.Write(fd, []byte("x")); return err }, true},
		{"write nothing", Op{Call: CallWrite, FD: 3}, func() error { _, err := syscall.Write(fd, nil); return err }, false},
		{"rename over", Op{Call: CallRename, Path: "/g", Path2: "/f"}, func() error { return syscall.Rename(g, f) }, false},
	} {
		m := fullDisk(t)
		err := c.real()
		require.Equal(t, c.full, err == syscall.ENOSPC, "%s on the kernel: %v", c.name, err)
		require.Equal(t, c.full, m.CanFail(onePid, c.op, ENOSPC), "%s on the fake", c.name)
		_, err = os.Lstat(other)
		require.ErrorIs(t, err, os.ErrNotExist, c.name)
		if info, err := os.Stat(g); err == nil {
			require.Zero(t, info.Size(), c.name)
		}
	}
}
