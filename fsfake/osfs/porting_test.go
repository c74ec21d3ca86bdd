//go:build linux

package osfs_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// "Porting is renaming" is a claim about package os. It is tested as the fake's system
// calls are: drawn sequences of calls of package os are made by package os on a real
// directory, and by everybody who promises to answer like it: a Proc with its Files
// through osfs, and the real half of osfs. Errors must be equal in
// type and text, bytes, numbers and the fields of every FileInfo.

var (
	sequencesFlag = flag.Int("os.sequences", 0, "how many drawn `sequences` to compare with package os; 0 means 500, or 100 with -short")
	seedFlag      = flag.Int("os.seed", 1, "the seed of the first drawn sequence")
)

const umask = 0o022

func TestPortingIsRenaming(t *testing.T) {
	old := syscall.Umask(umask)
	defer syscall.Umask(old)
	n := *sequencesFlag
	switch {
	case n > 0:
	case testing.Short():
		n = 100
	default:
		n = 500
	}
	begun := time.Now()
	answered := 0
	real := realRoot(t)
	for seed := *seedFlag; seed < *seedFlag+n; seed++ {
		steps := sequences.Example(seed)
		said, wrong := compare(t, real, steps)
		answered += said
		if wrong != "" {
			t.Fatalf("seed %d: %s", seed, shrunk(t, real, steps))
		}
	}
	t.Logf("%d sequences, %d answers of package os, each compared with three others, %v", n, answered, time.Since(begun).Round(time.Millisecond))
}

// realRoot returns a directory on a quick file system.
func realRoot(t *testing.T) string {
	var st unix.Statfs_t
	if unix.Statfs("/dev/shm", &st) == nil && st.Type == unix.TMPFS_MAGIC {
		if dir, err := os.MkdirTemp("/dev/shm", "lockpick-os-"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

// below is where everything happens, below a directory that nobody else uses: a symlink may
// make a path lead one directory up.
const below = "/up/w"

// subjects returns package os, and those who are to answer alike.
func subjects(t *testing.T, real string) []*subject {
	a := fakeMachine(t).Proc(101)
	return []*subject{
		newSubject("package os", osCalls{osfs.OS()}, realDir(real, "os"), osFile{}),
		newSubject("osfs.OS", osfs.OS(), realDir(real, "osfs"), osFile{}),
		newSubject("osfs.On", osfs.On(a), below, (*fsfake.File)(nil)),
	}
}

func newSubject(what string, sys osfs.FS, root string, none osfs.File) *subject {
	return &subject{what: what, sys: sys, root: root, none: none, files: map[int]*opened{}}
}

// realDir makes an empty directory.
func realDir(real, name string) string {
	root := real + "/" + name + below
	if err := errors.Join(os.RemoveAll(real+"/"+name), os.MkdirAll(root, 0o755)); err != nil {
		panic(err)
	}
	return root
}

// fakeMachine makes a machine with such a directory, and the process 101.
func fakeMachine(t *testing.T) *fsfake.Machine {
	m := fsfake.New(fsfake.Options{Umask: umask})
	require.NoError(t, m.Proc(1).MkdirAll(below, 0o755))
	for _, dir := range []string{"/up", below} {
		require.NoError(t, m.Proc(1).Chown(dir, os.Geteuid(), os.Getegid()))
	}
	m.AddProc(fsfake.ProcSpec{Pid: 101, UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())})
	return m
}

// compare runs a sequence. It returns how many answers package os gave, and the first
// that somebody gave otherwise.
func compare(t *testing.T, real string, steps []step) (answered int, wrong string) {
	ss := subjects(t, real)
	defer func() {
		for _, s := range ss {
			s.close()
		}
	}()
	for i, st := range steps {
		want := ss[0].answer(st)
		for _, s := range ss[1:] {
			if got := s.answer(st); got != want {
				return ss[0].answered, difference(s, fmt.Sprintf("step %d, %s", i+1, st), want, got)
			}
		}
	}
	want := ss[0].tree()
	for _, s := range ss[1:] {
		if got := s.tree(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			return ss[0].answered, difference(s, "what is there at the end", strings.Join(want, "\n        "), strings.Join(got, "\n        "))
		}
	}
	return ss[0].answered, ""
}

func difference(s *subject, where, want, got string) string {
	return fmt.Sprintf("%s\n    package os\n        %s\n    %s\n        %s", where, want, s.what, got)
}

// shrunk leaves steps out of a sequence for as long as it shows a difference.
func shrunk(t *testing.T, real string, steps []step) string {
	_, wrong := compare(t, real, steps)
	for cut := true; cut; {
		cut = false
		for i := len(steps) - 1; i >= 0; i-- {
			fewer := append(append([]step(nil), steps[:i]...), steps[i+1:]...)
			if _, w := compare(t, real, fewer); w != "" {
				steps, wrong, cut = fewer, w, true
			}
		}
	}
	var b strings.Builder
	b.WriteString(wrong)
	for i, s := range steps {
		fmt.Fprintf(&b, "\n    %2d %s", i+1, s)
	}
	return b.String()
}

// opens reports whether a step opens a file.
func opens(call string) bool {
	return call == "OpenFile" || call == "Open" || call == "Create" || call == "CreateTemp"
}

// osCalls is package os and nothing else. The embedded FS is never used for what package
// os has.
type osCalls struct{ osfs.FS }

func osOpened(f *os.File, err error) (osfs.File, error) {
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osCalls) OpenFile(name string, flag int, perm fs.FileMode) (osfs.File, error) {
	return osOpened(os.OpenFile(name, flag, perm))
}
func (osCalls) Open(name string) (osfs.File, error)   { return osOpened(os.Open(name)) }
func (osCalls) Create(name string) (osfs.File, error) { return osOpened(os.Create(name)) }
func (osCalls) CreateTemp(dir, pattern string) (osfs.File, error) {
	return osOpened(os.CreateTemp(dir, pattern))
}
func (osCalls) MkdirTemp(dir, pattern string) (string, error) { return os.MkdirTemp(dir, pattern) }
func (osCalls) ReadFile(name string) ([]byte, error)          { return os.ReadFile(name) }
func (osCalls) WriteFile(name string, data []byte, perm fs.FileMode) error {
	return os.WriteFile(name, data, perm)
}
func (osCalls) Stat(name string) (fs.FileInfo, error)        { return os.Stat(name) }
func (osCalls) Lstat(name string) (fs.FileInfo, error)       { return os.Lstat(name) }
func (osCalls) SameFile(a, b fs.FileInfo) bool               { return os.SameFile(a, b) }
func (osCalls) Remove(name string) error                     { return os.Remove(name) }
func (osCalls) RemoveAll(name string) error                  { return os.RemoveAll(name) }
func (osCalls) Rename(oldpath, newpath string) error         { return os.Rename(oldpath, newpath) }
func (osCalls) Link(oldname, newname string) error           { return os.Link(oldname, newname) }
func (osCalls) Symlink(oldname, newname string) error        { return os.Symlink(oldname, newname) }
func (osCalls) Readlink(name string) (string, error)         { return os.Readlink(name) }
func (osCalls) Mkdir(name string, perm fs.FileMode) error    { return os.Mkdir(name, perm) }
func (osCalls) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (osCalls) Truncate(name string, size int64) error       { return os.Truncate(name, size) }
func (osCalls) Chmod(name string, mode fs.FileMode) error    { return os.Chmod(name, mode) }
func (osCalls) Chown(name string, uid, gid int) error        { return os.Chown(name, uid, gid) }
func (osCalls) Chtimes(name string, atime, mtime time.Time) error {
	return os.Chtimes(name, atime, mtime)
}

// osFile is an os.File. Package os has no Flock: what is asked of it here is what an error
// of package syscall looks like, and of a file that was closed what one of package os does.
type osFile struct{ *os.File }

func (f osFile) Flock(how int) error {
	if f.File == nil {
		return os.ErrInvalid
	}
	failed := fs.ErrClosed
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	_ = conn.Control(func(fd uintptr) { failed = syscall.Flock(int(fd), how) })
	if failed != fs.ErrClosed {
		return failed
	}
	return &fs.PathError{Op: "flock", Path: f.Name(), Err: failed}
}
