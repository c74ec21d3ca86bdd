//go:build linux

package fsfake_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/internal/testmain"
)

// realFiles is package os as a maker.
type realFiles struct{}

func (realFiles) Mkdir(name string, perm fs.FileMode) error { return os.Mkdir(name, perm) }
func (realFiles) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(name, data, perm)
}
func (realFiles) Link(old, name string) error    { return os.Link(old, name) }
func (realFiles) Symlink(old, name string) error { return os.Symlink(old, name) }

// onOverlay runs f with a real machine whose disk is an overlay with an image, below a directory.
func onOverlay(base string, im tree, f func(*kernel.Machine) error) error {
	dir, err := os.MkdirTemp(base, "overlay")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, d := range []string{"lower", "upper", "work", "disk", "lower/tmp"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	if err := os.Chmod(filepath.Join(dir, "lower/tmp"), 0o777|os.ModeSticky); err != nil {
		return err
	}
	if err := im.on(realFiles{}, filepath.Join(dir, "lower")); err != nil {
		return err
	}
	disk := filepath.Join(dir, "disk")
	data := strings.ReplaceAll("lowerdir=DIR/lower,upperdir=DIR/upper,workdir=DIR/work,index=off,redirect_dir=off,xino=off,metacopy=off", "DIR", dir)
	if err := unix.Mount("overlay", disk, "overlay", 0, data); err != nil {
		return fmt.Errorf("%w: %w", errNoOverlay, err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	m, err := kernel.New(kernel.Options{Disk: disk, CallsOnly: true})
	if err != nil {
		return err
	}
	defer m.Close()
	return f(m)
}

var errNoOverlay = fmt.Errorf("no overlay can be mounted")

// TestKernelOverlay compares the profile of overlays with one that lies on an ext4 on a loop device:
// drawn sequences (-kernel.sequences), each on an image of its own.
func TestKernelOverlay(t *testing.T) {
	n := onMounted(t, testmain.Many(50, 50, 150))
	if !testmain.OwnMounts(t, "./fsfake") {
		return
	}
	base := mounted(t, fsfake.Ext4, []string{"mkfs.ext4", "-q"})
	*dirFlag, *fsFlag, probeOnce = base, "ext4", sync.Once{}
	require.NoError(t, onKernel(0, func(*kernel.Machine) error { return nil })) // probes
	*fsFlag = fsfake.Overlay.String()
	gen := sequences(true, fsfake.Overlay)
	for k := range n {
		s := gen.Example(*seedFlag + k)
		w, err := pairOnOverlay(base, s)
		require.NoError(t, err, s.String())
		if w != nil {
			t.Fatalf("seed %d: the profile and the file system differ\n%s", *seedFlag+k, shrunkOnOverlay(t, base, s, w))
		}
	}
}

func pairOnOverlay(base string, s sequence) (wrong *mismatch, err error) {
	err = onOverlay(base, image, func(m *kernel.Machine) error {
		_, wrong, err = runPair(m, s, nil)
		return err
	})
	return wrong, err
}

// shrunkOnOverlay leaves lines out as long as the difference is the same.
func shrunkOnOverlay(t *testing.T, base string, s sequence, wrong *mismatch) string {
	for at := len(s.lines) - 1; at >= 0; at-- {
		c := s
		c.lines = append(append([]line(nil), s.lines[:at]...), s.lines[at+1:]...)
		w, err := pairOnOverlay(base, c)
		require.NoError(t, err)
		if w != nil && w.what == wrong.what {
			s, wrong = c, w
		}
	}
	return wrong.String() + "\n" + s.String()
}

// Names of one file of the image are locked and changed apart, and show one number until then.
func TestKernelOverlayNames(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root mounts overlays, so that names of one file were not compared; as root, go test ./fsfake runs it")
	}
	if raceEnabled {
		t.Skip("SKIPPED under the race detector: what is compared are processes of their own; go test ./fsfake runs it")
	}
	if !testmain.OwnMounts(t, "./fsfake") {
		return
	}
	names := tree{files: []string{"/h"}, links: [][2]string{{"/h", "/h2"}, {"/h", "/h3"}}}
	const ex, rw = fsfake.LOCK_EX | fsfake.LOCK_NB, fsfake.O_RDWR
	stat := func(path string) fsfake.Op { return fsfake.Op{Call: fsfake.CallLstat, Path: path} }
	ops := []fsfake.Op{
		{Call: fsfake.CallOpen, Path: "/h"}, {Call: fsfake.CallOpen, Path: "/h2"},
		{Call: fsfake.CallFlock, FD: 3, Flags: ex}, {Call: fsfake.CallFlock, FD: 4, Flags: ex},
		stat("/h"), stat("/h2"), {Call: fsfake.CallOpen, Path: "/h2", Flags: rw}, stat("/h"), stat("/h2"), stat("/h3"),
		{Call: fsfake.CallFlock, FD: 5, Flags: ex}, {Call: fsfake.CallPwrite, FD: 5, Data: "new"},
		{Call: fsfake.CallPread, FD: 3, Len: 3}, {Call: fsfake.CallPread, FD: 4, Len: 3},
		{Call: fsfake.CallLink, Path: "/h3", Path2: "/h4"}, stat("/h3"), stat("/h4"), stat("/h"),
		{Call: fsfake.CallUnlink, Path: "/h"}, {Call: fsfake.CallFstat, FD: 3}, {Call: fsfake.CallFstat, FD: 5},
		{Call: fsfake.CallRename, Path: "/h2", Path2: "/h3"}, {Call: fsfake.CallFstat, FD: 5}, stat("/h4"),
	}
	fake := fsfake.New(fsfake.Options{Profile: fsfake.Overlay})
	require.NoError(t, fake.Prepare(func(m *fsfake.Machine) { require.NoError(t, names.on(m.Proc(1), "")) }))
	fake.SealImage()
	spec := fsfake.ProcSpec{Pid: firstPid}
	fake.AddProc(spec)
	err := onOverlay(t.TempDir(), names, func(m *kernel.Machine) error {
		if err := m.AddProc(spec); err != nil {
			return err
		}
		told := [2]map[uint64]int{{}, {}} // numbers in the order in which they come up
		for _, op := range ops {
			task := fsfake.Task{Pid: firstPid, N: 1}
			r, err := m.Do(task, op)
			if err != nil {
				return err
			}
			var texts [2]string
			for i, r := range [2]fsfake.Result{fake.Do(task, op), r} {
				if _, ok := told[i][r.Stat.Ino]; !ok {
					told[i][r.Stat.Ino] = len(told[i])
				}
				texts[i] = fmt.Sprint(r.Errno, r.N, r.Blocked, r.Data, " nlink ", r.Stat.Nlink, " number ", told[i][r.Stat.Ino])
			}
			require.Equal(t, texts[1], texts[0], "%s %s %s", op.Call, op.Path, op.Path2)
		}
		return nil
	})
	if errors.Is(err, errNoOverlay) {
		t.Skipf("SKIPPED: names of one file were not compared: %v; go test ./fsfake runs it where overlays can be mounted", err)
	}
	require.NoError(t, err)
}
